import { servePool } from '../../os/pool-worker.ts'
import { CONTENT_NICE, lowerThreadPriority } from '../../os/thread-priority.ts'
import { createPreparer } from '../prepare.ts'
import { createSignRsa } from '../system-rsa.ts'
import type { ComposeJob } from './composer.ts'

/** A thread that composes and signs a mail as delivery does, to show it (composer.ts): content in, signed mail out. */

declare const self: Worker

if (!Bun.isMainThread) {
  lowerThreadPriority(CONTENT_NICE)
  const preparer = createPreparer(createSignRsa(() => performance.now()))
  const answer = servePool<ComposeJob, Uint8Array>(
    (message, transfer) => self.postMessage(message, transfer ?? []),
    (job, { handOver }) => {
      const parts = preparer.prepareNow(job)
      const mail = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
      let at = 0
      for (const part of parts) {
        mail.set(part, at)
        at += part.byteLength
      }
      handOver(mail.buffer)
      if (mail.byteLength >= LARGE_BYTES) setImmediate(() => Bun.gc(true))
      return mail
    },
  )
  self.onmessage = (event: MessageEvent) => answer(event.data)
}

/** Mail from this size on is collected at once. */
const LARGE_BYTES = 4 * 2 ** 20
