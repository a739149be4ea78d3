// Updates of Yjs with every kind of content it writes: { name: { update, stateVector } }, base64 and numbers.
import * as Y from 'yjs'

const kinds = {
  text: doc => doc.getText('t').insert(0, 'aé€😀'),
  surrogates: doc => {
    doc.getText('t').insert(0, '😀😀')
    doc.getText('t').insert(1, 'x') // between the halves of the first
  },
  deleted: doc => {
    doc.getText('t').insert(0, 'some text')
    doc.getText('t').delete(2, 3)
  },
  collected: doc => {
    const map = new Y.Map()
    doc.getArray('a').insert(0, [map])
    map.set('k', new Y.Text('gone'))
    doc.getArray('a').delete(0)
  },
  format: doc => {
    doc.getText('t').insert(0, 'bold', { bold: true })
    doc.getText('t').format(0, 2, { bold: null, link: { href: 'x' } })
  },
  embed: doc => doc.getText('t').insertEmbed(0, { image: 'x' }),
  any: doc => doc.getArray('a').push([
    null, true, false, -70, 1e9, 1.5, 1e300, 'text', [12345678901234n, [2, [undefined]]], { a: { b: [] } }
  ]),
  binary: doc => doc.getArray('a').push([new Uint8Array([1, 2, 3]), new Uint8Array(200)]),
  types: doc => doc.getArray('a').push([new Y.Array(), new Y.Map(), new Y.Text('x'), new Y.XmlFragment(),
    new Y.XmlElement('p'), new Y.XmlText('x'), new Y.XmlHook('h')]),
  xml: doc => {
    const p = new Y.XmlElement('p')
    doc.getXmlFragment('x').insert(0, [p])
    p.setAttribute('class', 'c')
    p.insert(0, [new Y.XmlText('text')])
  },
  map: doc => {
    for (const value of [1, 'two', [3], { four: 4 }]) doc.getMap('m').set('key', value)
  },
  subdocument: doc => doc.getMap('m').set('doc', new Y.Doc({ guid: 'id', meta: { a: 1 }, autoLoad: true }))
}

const answers = {}
for (const [name, make] of Object.entries(kinds)) {
  const doc = new Y.Doc()
  make(doc)
  answers[name] = {
    update: Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64'),
    stateVector: Object.fromEntries(Y.decodeStateVector(Y.encodeStateVector(doc)))
  }
}
console.log(JSON.stringify(answers))
