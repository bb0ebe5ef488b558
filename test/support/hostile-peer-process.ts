/** A hostile peer (hostile-peer.ts) in a separate process, so that its CPU time is not counted. Arguments: files of
 *  certificate and key. Prints its port. */
import { readFileSync } from 'node:fs'
import { startHostilePeer } from './hostile-peer.ts'

const [cert = '', key = ''] = process.argv.slice(2)
const peer = await startHostilePeer({ cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') })
console.log(peer.port)
