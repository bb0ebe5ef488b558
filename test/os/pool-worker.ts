import { servePool } from '../../src/os/pool-worker.ts'

/** What a test may request of a runner. */
export type TestJob =
  | { kind: 'echo'; value: unknown }
  /** Computes forever. */
  | { kind: 'loop' }
  /** Computes forever within one call of the engine. */
  | { kind: 'regex' }
  /** Waits first, and then computes forever: with or without a message before. */
  | { kind: 'late loop'; says: boolean }
  /** Answers after a while, without computing meanwhile. */
  | { kind: 'wait'; ms: number }
  /** Computes for that long, yielding in between. */
  | { kind: 'busy'; ms: number }
  | { kind: 'never' }
  | { kind: 'throw' }
  | { kind: 'exit' }
  | { kind: 'settings' }

declare const self: Worker

if (!Bun.isMainThread) {
  const answer = servePool<TestJob, unknown>(
    (message, transfer) => self.postMessage(message, transfer ?? []),
    async (job, context, settings) => {
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
        case 'exit':
          process.exit(3)
          break
        case 'settings':
          return settings
      }
    },
  )
  self.onmessage = (event: MessageEvent) => answer(event.data)
}
