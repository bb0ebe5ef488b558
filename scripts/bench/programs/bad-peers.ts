/** The mail servers of a backlog: `bun scripts/bench/programs/bad-peers.ts PORT`, each at the address that
 *  trouble.ts has for its behaviour. Prints `{}` when all listen. */
import { createServer } from 'node:net'
import { listenAsPeer } from '../mail-peer.ts'
import { ADDRESSES } from '../trouble.ts'

const port = Number(process.argv[2])
const silent = createServer((socket) => socket.on('error', () => socket.destroy()))
await new Promise<void>((resolve) => silent.listen(port, ADDRESSES.silent, resolve))
await listenAsPeer({ recipient: '451 4.3.2 Not now' }, ADDRESSES.deferring, port)
await listenAsPeer({ recipient: '451 4.3.2 Not now', delayMs: 2_000 }, ADDRESSES.slow, port)
console.log('{}')
process.stdin.on('data', () => {})
process.stdin.on('end', () => process.exit(0))
