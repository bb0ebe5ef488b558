/** A mail server that accepts everything as fast as possible: counts the mails, keeps none. Prints `{"port": …}`,
 *  then the running count whenever a line comes on standard input. */
import { listenAsPeer } from '../mail-peer.ts'

let mails = 0
const onMail = () => {
  mails++
}
console.log(JSON.stringify({ port: await listenAsPeer({ onMail }, '127.0.0.1') }))
process.stdin.on('data', () => console.log(JSON.stringify({ mails })))
process.stdin.on('end', () => process.exit(0))
