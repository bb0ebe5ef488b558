import { servePool } from '../../os/pool-worker.ts'
import { serveThread } from '../../os/thread-entry.ts'
import { CONTENT_NICE, lowerThreadPriority } from '../../os/thread-priority.ts'
import type { ParsingAnswer, ParsingJob } from './job.ts'
import { createPerform } from './perform.ts'

/** A parsing thread: runs one job at a time. It has no store, no keys and no network. */
serveThread((post) => {
  lowerThreadPriority(CONTENT_NICE)
  const perform = createPerform()
  return servePool<ParsingJob, ParsingAnswer>(post, async (job, { handOver, working }) => {
    const answer = await perform(job, working)
    if ('done' in answer && answer.done instanceof Uint8Array) handOver(answer.done.buffer as ArrayBuffer)
    const isMail = job.kind === 'stored' || job.kind === 'inbound_record'
    if (isMail && job.content.byteLength >= LARGE_BYTES) setImmediate(() => Bun.gc(true))
    return answer
  })
})

/** Garbage of a message above this size is collected at once. */
const LARGE_BYTES = 2 ** 20
