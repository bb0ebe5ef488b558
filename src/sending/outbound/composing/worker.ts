import { servePool } from '../../../os/pool-worker.ts'
import { serveThread } from '../../../os/thread-entry.ts'
import { CONTENT_NICE, lowerThreadPriority } from '../../../os/thread-priority.ts'
import { createPreparer } from '../prepare.ts'
import { createSignRsa } from '../system-rsa.ts'
import type { ComposeJob } from './composer.ts'

/** A thread that composes and signs a mail as delivery does, to show it (composer.ts): content in, signed mail out. */
serveThread((post) => {
  lowerThreadPriority(CONTENT_NICE)
  const preparer = createPreparer(createSignRsa(() => performance.now()))
  return servePool<ComposeJob, Uint8Array>(post, (job, { handOver }) => {
    const { parts } = preparer.prepareNow(job)
    const mail = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
    let at = 0
    for (const part of parts) {
      mail.set(part, at)
      at += part.byteLength
    }
    handOver(mail.buffer)
    if (mail.byteLength >= LARGE_BYTES) setImmediate(() => Bun.gc(true))
    return mail
  })
})

/** Mail from this size on is collected at once. */
const LARGE_BYTES = 4 * 2 ** 20
