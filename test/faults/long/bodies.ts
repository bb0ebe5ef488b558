import { exitOf, makeTestInstallation } from '../setup.ts'
import { type Fault, unless } from './fault.ts'
import { largeMessage, otherAnswers, postUntilTaken } from './large.ts'
import { stallsOf, watch, wordsOf } from './observer.ts'

const BODY_BYTES = 24_000_000
const MOST_MB = 512
const MOST_MS = 500
const MOST_STALL_MS = 200

/** Many large requests at once: accepted, or told to retry, in bounded memory and without delaying others. */
export const bodies: Fault = {
  name: 'bodies',
  needs: [],
  rounds: { long: 50, short: 8 },
  run: async ({ rounds: count, program }) => {
    const installation = await makeTestInstallation({ program })
    try {
      const server = await installation.serve()
      const before = await stallsOf(installation)
      const observer = await watch(installation, server.pid!)
      // Not delivered: the process that measures must not be busy with accepting the mail.
      const body = largeMessage('you@nowhere.example', BODY_BYTES)
      const came = await Promise.all(Array.from({ length: count }, () => postUntilTaken(installation, body)))
      const seen = await observer.stop()
      const stalls = await stallsOf(installation, before)
      server.kill('SIGTERM')
      const code = await exitOf(server)
      const taken = came.filter(({ isTaken }) => isTaken).length
      return {
        figures:
          `${count} of ${BODY_BYTES / 1e6} MB: ${taken} accepted, other responses: ${otherAnswers(came)}; ` +
          wordsOf(seen, stalls),
        broken: [
          ...unless(taken === count, 'all are accepted in the end'),
          ...unless(seen.peakMb <= MOST_MB, `at most ${MOST_MB} MB of memory`),
          ...unless(code === 0, 'exit code 0'),
        ],
        slow: [
          ...unless(seen.p99Ms <= MOST_MS, `other requests are answered within ${MOST_MS} ms`),
          ...unless(stalls.worstUnderMs <= MOST_STALL_MS, `main thread never late by ${MOST_STALL_MS} ms`),
        ],
      }
    } finally {
      await installation.close()
    }
  },
}
