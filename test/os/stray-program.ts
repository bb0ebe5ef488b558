import { systemClock } from '../../src/os/clock.ts'
import { silentLog } from '../../src/os/log.ts'
import { createThreadPool, type PoolEvent, threadRunner } from '../../src/os/thread-pool.ts'
import { TEST_LIMIT_MS } from '../support/patience.ts'
import type { TestJob } from './pool-worker.ts'

/** Prints as JSON what became of jobs that left an exception behind, and of the jobs beside them. For job-isolation.test.ts. */

const peer = Bun.listen({
  hostname: '127.0.0.1',
  port: 0,
  socket: { open: (socket) => void socket.write('hello'), data: () => {} },
})

async function inPool(how: Extract<TestJob, { kind: 'stray' }>['how'], isAlone = false) {
  const events: PoolEvent[] = []
  const pool = createThreadPool<TestJob, unknown>({
    name: 'tested',
    start: threadRunner(() => new Worker(new URL('./pool-worker.ts', import.meta.url).href)),
    count: 1,
    perRunner: 2,
    computeMs: TEST_LIMIT_MS,
    totalMs: TEST_LIMIT_MS,
    clock: systemClock,
    log: silentLog,
    onEvent: (event) => events.push(event),
  })
  const beside = isAlone ? null : pool.run({ kind: 'wait', ms: 200 })
  const failed = await pool.run({ kind: 'stray', how, port: peer.port }).then(
    () => null,
    (error: unknown) => String(error).split('\n')[0],
  )
  const found = { failed, beside: await beside }
  const deaths = events.flatMap((event) => (event.kind === 'ended' && event.cause === 'died' ? event.error : []))
  await pool.stop()
  return { ...found, deaths, started: events.filter(({ kind }) => kind === 'started').length }
}

const found = {
  timer: await inPool('timer'),
  event: await inPool('event'),
  rejection: await inPool('rejection'),
  'the only rejection': await inPool('rejection', true),
  late: await inPool('late'),
}
console.log(JSON.stringify(found))
process.exit(0)
