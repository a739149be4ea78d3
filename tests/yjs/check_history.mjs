// What real Yjs makes of a stored history.
//
// Reads requests from standard input, one JSON object a line, and answers each with one line:
//   request  { "updates": [base64, ...],            v1 updates, applied in this order
//              "roots": { name: "text" | "map" | "array" | "xml" } }
//   answer   { "pending": null | { client: clock }, what Yjs waits for (it holds back what depends on that)
//              "pendingDeletes": boolean,           deletions of structs that are not there
//              "stateVector": { client: clock },
//              "roots": { name: content as JSON },
//              "state": base64 }                    the whole document, as Yjs would store it
//   or       { "error": message }
import { createInterface } from 'node:readline'
import * as Y from 'yjs'

const root = {
  text: (doc, name) => doc.getText(name),
  map: (doc, name) => doc.getMap(name),
  array: (doc, name) => doc.getArray(name),
  xml: (doc, name) => doc.getXmlFragment(name)
}

const check = ({ updates, roots = {} }) => {
  const doc = new Y.Doc()
  const types = Object.entries(roots).map(([name, kind]) => [name, root[kind](doc, name)])
  for (const update of updates) Y.applyUpdate(doc, Buffer.from(update, 'base64'))
  const { pendingStructs, pendingDs } = doc.store
  return {
    pending: pendingStructs && Object.fromEntries(pendingStructs.missing),
    pendingDeletes: pendingDs !== null,
    stateVector: Object.fromEntries(Y.decodeStateVector(Y.encodeStateVector(doc))),
    roots: Object.fromEntries(types.map(([name, type]) => [name, type.toJSON()])),
    state: Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer
  try {
    answer = check(JSON.parse(line))
  } catch (error) {
    answer = { error: String(error) }
  }
  console.log(JSON.stringify(answer))
}
