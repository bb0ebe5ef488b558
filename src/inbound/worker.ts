import { readSync } from 'node:fs'
import { parseAttachments } from '../mail/parse.ts'
import { systemClock } from '../platform/clock.ts'
import { systemRandom } from '../platform/random.ts'
import { createResolver } from '../platform/resolver.ts'
import { LARGE_BYTES, type ReadingWorld, readMail } from './read.ts'
import type { FromReader, Reading, ReadingJob, SentJob, ToReader } from './reading.ts'
import { unread } from './unread.ts'

/** Sends one message to the main thread; `transfer` hands buffers over without copying. */
type Post = (message: FromReader, transfer?: ArrayBuffer[]) => void

/** A reading thread: mails in, readings out. Many at once, since each waits for the DNS; readers.ts sees to it that large
 *  ones come one after another. A job that fails inside is told as `bug`, and the mail answered unread; an error outside
 *  any job ends the thread, and main starts another. A job before `start` throws. */
function createReaderDesk(post: Post): (message: ToReader) => void {
  let world: ReadingWorld | null = null
  return (message) => {
    switch (message.kind) {
      case 'start': {
        const servers = message.settings.dnsServers
        const resolver = createResolver({ servers, clock: systemClock, random: systemRandom })
        const onBug = (jobId: number, error: unknown) => post({ kind: 'bug', jobId, error: textOf(error) })
        const onWork = (jobId: number) => post({ kind: 'at_work', jobId })
        world = { settings: message.settings, resolver, clock: systemClock, onWork, onBug }
        return
      }
      case 'read':
        if (world === null) throw new Error('a reader must be started before it is given work')
        void read(message.job, world, post).then(tidyAfter(message.job.raw))
        return
      case 'attachments':
        void attachments(message.jobId, message.raw, post).then(tidyAfter(message.raw))
        return
    }
  }
}

async function read(sent: SentJob, world: ReadingWorld, post: Post): Promise<void> {
  let reading: Reading
  let job: ReadingJob
  try {
    job = { ...sent, raw: wholeOf(sent.raw) }
  } catch (error) {
    post({ kind: 'unreadable', jobId: sent.jobId, error: textOf(error) })
    return
  }
  try {
    reading = await readMail(job, world)
  } catch (error) {
    world.onBug(job.jobId, error)
    reading = unread(job, world.settings.hostname, 'it could not be read')
  }
  const blobs = [reading.raw, reading.parsed, ...reading.forwards]
  post({ kind: 'reading', reading }, [...new Set(blobs.map(({ buffer }) => buffer))])
}

/** A file is read from its beginning, whoever else has read in it. Throws the error of the disk. */
function wholeOf(raw: SentJob['raw']): Uint8Array<ArrayBuffer> {
  if (raw instanceof Uint8Array) return raw
  const whole = new Uint8Array(raw.byteLength)
  for (let at = 0; at < whole.length; ) {
    const bytesRead = readSync(raw.fd, whole, at, whole.length - at, at)
    if (bytesRead === 0) throw new Error(`a mail of ${whole.length} bytes ends after ${at}`)
    at += bytesRead
  }
  return whole
}

/** Stored mails carry three fields more than the mail had when it was parsed; its parts are the same. */
async function attachments(jobId: number, raw: Uint8Array, post: Post): Promise<void> {
  post({ kind: 'at_work', jobId })
  try {
    const contents = await parseAttachments(raw, new Promise(() => {}))
    post({ kind: 'attachments', jobId, contents: contents.map((content) => content.toString('base64')), error: null })
  } catch (error) {
    post({ kind: 'attachments', jobId, contents: null, error: textOf(error) })
  }
}

/** What a large mail left behind goes before the next one comes: in a later turn, when nothing holds it any more. */
function tidyAfter({ byteLength }: { byteLength: number }): () => void {
  return () => {
    if (byteLength > LARGE_BYTES) setImmediate(() => Bun.gc(true))
  }
}

const textOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))

declare const self: Worker

if (!Bun.isMainThread) {
  const answer = createReaderDesk((message, transfer) => self.postMessage(message, transfer ?? []))
  self.onmessage = (event: MessageEvent<ToReader>) => answer(event.data)
}
