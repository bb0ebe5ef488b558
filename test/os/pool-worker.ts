import { connect } from 'node:net'
import { servePool } from '../../src/os/pool-worker.ts'
import { serveThread } from '../../src/os/thread-entry.ts'

/** What a test may request of a runner. */
export type TestJob =
  | { kind: 'echo'; value: unknown }
  /** Computes forever. */
  | { kind: 'loop' }
  /** Computes forever within one call of the engine. */
  | { kind: 'regex' }
  /** Waits first, and then computes forever: with or without a message before. */
  | { kind: 'late loop'; says: boolean }
  /** Blocks the thread for that long without computing, as if it got no CPU. */
  | { kind: 'block'; ms: number }
  /** Answers after a while, without computing meanwhile. */
  | { kind: 'wait'; ms: number }
  /** Computes for that long, yielding in between. */
  | { kind: 'busy'; ms: number }
  | { kind: 'never' }
  | { kind: 'throw' }
  /** Leaves an exception behind that nothing catches; `late`: after its answer. */
  | { kind: 'stray'; how: 'timer' | 'event' | 'rejection' | 'late'; port: number }
  | { kind: 'exit' }
  | { kind: 'settings' }

function stray(): never {
  throw new Error('left behind')
}

serveThread((post) =>
  servePool<TestJob, unknown>(post, async (job, context, settings) => {
    switch (job.kind) {
      case 'echo':
        return job.value
      case 'loop':
        for (;;);
      case 'regex':
        for (;;) /^(a+)+$/.test(`${'a'.repeat(60)}b`) // the engine aborts one after some time
      case 'late loop':
        await Bun.sleep(30)
        if (job.says) context.working()
        for (;;);
      case 'block':
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, job.ms)
        return 'went on'
      case 'wait':
        await Bun.sleep(job.ms)
        return 'waited'
      case 'busy':
        for (const end = performance.now() + job.ms; performance.now() < end; await Bun.sleep(1)) {
          context.working()
          for (const pause = performance.now() + 20; performance.now() < pause; );
        }
        return 'worked'
      case 'never':
        return await new Promise(() => {})
      case 'throw':
        throw new Error('thrown inside')
      case 'stray':
        if (job.how === 'rejection') void Bun.sleep(5).then(stray)
        else if (job.how === 'event') connect(job.port, '127.0.0.1').on('data', stray)
        else setTimeout(stray, 5)
        return job.how === 'late' ? 'answered' : await new Promise(() => {})
      case 'exit':
        process.exit(3)
        break
      case 'settings':
        return settings
    }
  }),
)
