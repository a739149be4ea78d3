// Updates that real Yjs writes, one JSON object a line: { "v1": base64, "v2": base64 }.
//
// node make_updates.mjs SEED CLIENTS ROUNDS: several clients edit nested types at random, with deletions, undo and
// merges in between; then come the states, the differences between them, and merged updates.
import * as Y from 'yjs'

const [seed, clients, rounds] = process.argv.slice(2).map(Number)
let state = seed >>> 0
const below = (limit) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * limit)
}
const say = (v1, v2) =>
  console.log(JSON.stringify({ v1: Buffer.from(v1).toString('base64'), v2: Buffer.from(v2).toString('base64') }))

// Ids of every length that a varint has, small ones as well.
const id = (number) => (number + 1) * [1, 61, 15013, 1234567, 30000001][number % 5]
const docs = Array.from({ length: clients }, (_, number) => {
  const doc = new Y.Doc()
  doc.clientID = id(number)
  return doc
})
const log = []
for (const doc of docs) {
  let v1 = null
  doc.on('update', (update) => { v1 = update })
  doc.on('updateV2', (update) => { say(v1, update); log.push(v1) })
}
const value = () => [below(2 ** 31), 'text'.repeat(below(9)), null, true, { a: [1, 2.5] }, new Uint8Array(below(5))][below(6)]
const edit = (doc) => {
  const text = doc.getText('text')
  const array = doc.getArray('array')
  const map = doc.getMap('map')
  const deep = map.get('deep')
  switch (below(9)) {
    case 0: case 1: return text.insert(below(text.length + 1), 'ab cé😀'.slice(0, 1 + below(4)))
    case 2: return text.length && text.delete(below(text.length), 1)
    case 3: return text.length && text.format(0, text.length, { bold: below(2) === 0 || null })
    case 4: return array.insert(below(array.length + 1), [value(), value()])
    case 5: return array.length && array.delete(below(array.length), 1)
    case 6: return map.set('key' + below(4), value())
    case 7: return map.delete('key' + below(4))
    default: return deep instanceof Y.Map ? deep.set('child', new Y.Array()) : map.set('deep', new Y.Map())
  }
}
for (let round = 0; round < rounds; round++) {
  const doc = docs[below(clients)]
  if (below(3) === 0) doc.transact(() => { for (let n = below(8); n >= 0; n--) edit(doc) })
  else edit(doc)
  if (below(4) === 0) {
    const other = docs[below(clients)]
    Y.applyUpdate(other, Y.encodeStateAsUpdate(doc, Y.encodeStateVector(other)))
  }
}
const whole = new Y.Doc()
for (const doc of docs) {
  const before = Y.encodeStateVector(whole)
  Y.applyUpdate(whole, Y.encodeStateAsUpdate(doc))
  say(Y.encodeStateAsUpdate(doc), Y.encodeStateAsUpdateV2(doc))
  say(Y.encodeStateAsUpdate(whole, before), Y.encodeStateAsUpdateV2(whole, before))
}
const merged = Y.mergeUpdates(log)
say(merged, Y.convertUpdateFormatV1ToV2(merged))
