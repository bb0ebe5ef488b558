import { servePool } from '../os/pool-worker.ts'
import { CONTENT_NICE, lowerThreadPriority } from '../os/thread-priority.ts'
import type { MailboxAnswer, MailboxJob } from './job.ts'
import { lookInto } from './mailbox.ts'

/** A thread that looks into mailboxes. */

declare const self: Worker

if (!Bun.isMainThread) {
  lowerThreadPriority(CONTENT_NICE)
  const take = servePool<MailboxJob, MailboxAnswer>(
    (message) => self.postMessage(message),
    (job) => lookInto(job),
  )
  self.onmessage = (event: MessageEvent) => take(event.data)
}
