/** Asks a name server over UDP for five seconds: as fast as it answers, with a fixed number of questions on the way. Prints
 *  the numbers of answers and of questions that were lost. Arguments: port, then names of TXT records.
 *  Started by bench/dns.ts as a process of its own. */
import packet from 'dns-packet'

const SECONDS = 5
const SOCKETS = 8
const ON_THE_WAY = 32
const LOST_MS = 200

const [port = '', ...names] = process.argv.slice(2)
const edns = { type: 'OPT', name: '.', udpPayloadSize: 1232, extendedRcode: 0, ednsVersion: 0, flags: 0, options: [] }
const queries = names.map((name) =>
  packet.encode({ type: 'query', questions: [{ name, type: 'TXT' }], additionals: [edns as never] }),
)
let answered = 0
let lost = 0
let next = 0
let isOver = false

for (let n = 0; n < SOCKETS; n++) {
  let heardAt = performance.now()
  const socket = await Bun.udpSocket({
    connect: { hostname: '127.0.0.1', port: Number(port) },
    socket: {
      data: (_, bytes) => {
        heardAt = performance.now()
        if ((bytes[3]! & 0xf) !== 0 || bytes.readUInt16BE(6) === 0) throw new Error('not the record')
        answered++
        if (!isOver) ask()
      },
    },
  })
  const ask = () => {
    next++
    socket.send(queries[next % queries.length]!)
  }
  for (let k = 0; k < ON_THE_WAY; k++) ask()
  setInterval(() => {
    if (isOver || performance.now() - heardAt < LOST_MS) return
    lost += ON_THE_WAY
    heardAt = performance.now()
    for (let k = 0; k < ON_THE_WAY; k++) ask()
  }, LOST_MS)
}
setTimeout(() => {
  isOver = true
  console.log(JSON.stringify({ answersPerSecond: answered / SECONDS, answered, lost }))
  process.exit()
}, SECONDS * 1000)
