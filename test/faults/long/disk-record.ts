import { readFileSync } from 'node:fs'
import { SERVING_FILE } from '../../../src/cli/serving.ts'

/** What a process did to a folder, in order, from a strace record (`-f -y -xx`). */
export type Step =
  | { kind: 'write'; file: string; at: number; bytes: Buffer }
  | { kind: 'truncate'; file: string; size: number }
  | { kind: 'sync'; file: string }
  | { kind: 'unlink'; file: string }
  | { kind: 'rename'; from: string; to: string }
  /** Ids of messages that a client was promised. */
  | { kind: 'promised'; ids: string[] }

export const RECORDED = 'pwrite64,fsync,fdatasync,ftruncate,unlink,rename,write,writev,sendto'

/** A record → its steps on files below `folder`, and its socket output. A call counts where it ended: by then its
 *  effect is certain, and an fsync promises nothing before. */
export function readRecord(file: string, folder: string): Step[] {
  const begun = new Map<string, string>()
  const steps: Step[] = []
  for (const line of readFileSync(file, 'latin1').split('\n')) {
    const space = line.indexOf(' ')
    const thread = line.slice(0, space)
    let call = line.slice(space).trimStart()
    if (call.endsWith('<unfinished ...>')) {
      // A write may be on its way to the disk since its start, and so may a response on the network.
      begun.set(thread, call.slice(0, -'<unfinished ...>'.length))
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>/.exec(call)
    if (resumed) call = (begun.get(thread) ?? '') + call.slice(resumed[0].length)
    const step = readCall(call, folder)
    if (step !== null) steps.push(step)
  }
  return steps
}

function readCall(call: string, folder: string): Step | null {
  const name = call.slice(0, call.indexOf('('))
  const result = / = (-?\d+)/.exec(call.slice(call.lastIndexOf(')')))?.[1]
  if (result === undefined || result.startsWith('-')) return null
  if (name === 'unlink' || name === 'rename') {
    const [from, to] = strings(call).map((bytes) => bytes.toString())
    if (!from?.startsWith(folder)) return null
    return name === 'unlink' ? { kind: 'unlink', file: from } : { kind: 'rename', from, to: to! }
  }
  const file = bytesOf(/^\w+\(\d+<([^>]*)>/.exec(call)?.[1] ?? '').toString()
  const isOurs = file.startsWith(`${folder}/`)
  if (file.startsWith('socket:')) {
    const ids =
      Buffer.concat(strings(call))
        .toString('latin1')
        .match(/"id":"msg_\w+"|queued as msg_\w+/g) ?? []
    return ids.length === 0 ? null : { kind: 'promised', ids: ids.map((text) => /msg_\w+/.exec(text)![0]) }
  }
  if (!isOurs || file.endsWith(`/${SERVING_FILE}`)) return null // files that exist only while a server runs
  const tail = call.slice(0, call.lastIndexOf(')')).split(', ')
  if (name === 'pwrite64') return { kind: 'write', file, at: Number(tail.at(-1)), bytes: strings(call)[0]! }
  if (name === 'ftruncate') return { kind: 'truncate', file, size: Number(bytesOf(tail.at(-1)!)) }
  if (name === 'fsync' || name === 'fdatasync') return { kind: 'sync', file }
  throw new Error(`a call this does not know the place of: ${name} on ${file}`)
}

const strings = (call: string) => [...call.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, text]) => bytesOf(text!))
const bytesOf = (text: string) =>
  text.includes('\\x') ? Buffer.from(text.replaceAll('\\x', ''), 'hex') : Buffer.from(text, 'latin1')
