import { servePool } from '../../os/pool-worker.ts'
import { serveThread } from '../../os/thread-entry.ts'
import { CONTENT_NICE, lowerThreadPriority } from '../../os/thread-priority.ts'
import type { MailboxAnswer, MailboxJob } from './job.ts'
import { lookInto } from './mailbox.ts'

/** A thread that looks into mailboxes. */
serveThread((post) => {
  lowerThreadPriority(CONTENT_NICE)
  return servePool<MailboxJob, MailboxAnswer>(post, lookInto)
})
