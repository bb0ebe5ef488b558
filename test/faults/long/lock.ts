import { join } from 'node:path'
import { connect } from '../../../src/storage/sqlite/driver.ts'
import { exitOf, makeTestInstallation } from '../setup.ts'
import { type Asked, isUnavailable, look, send } from './ask.ts'
import { readStore } from './books.ts'
import { type Fault, missingFrom, unless } from './fault.ts'

const PATIENCE_MS = 5_000
/** Beyond the waiting time, for the round trip on a busy machine. */
const SLACK_MS = 1_500
const STALL_MS = 1_000

/** Another process holds the write lock of the database, shorter and longer than the server waits for it. */
export const lock: Fault = {
  name: 'lock',
  needs: [],
  rounds: { long: 30, short: 7 },
  run: async ({ rounds: longSeconds, program }) => {
    const installation = await makeTestInstallation({ program })
    try {
      const server = await installation.serve()
      const other = connect(join(installation.dataDir, 'postrider.db'), { busyTimeoutMs: 5_000 })
      const promised: string[] = []
      const answers: Asked[] = []
      const looks: Asked[] = []
      for (const seconds of [3, longSeconds]) {
        await send(installation, `warm-${seconds}`)
        other.exec('begin immediate')
        const beganAt = performance.now()
        const endsAt = beganAt + seconds * 1000
        const asked: Promise<Asked>[] = []
        for (let n = 0; performance.now() < endsAt; n++) {
          if (n % 5 === 0) asked.push(send(installation, `${seconds}-${n}`))
          looks.push(await look(installation, '/healthz'), await look(installation, '/v1/messages?limit=1'))
          await Bun.sleep(50)
        }
        other.exec('commit')
        // On a busy machine, the last round may have made it longer than the server waits.
        const isShort = performance.now() - beganAt < PATIENCE_MS - SLACK_MS
        const came = await Promise.all(asked)
        answers.push(...came)
        promised.push(...came.flatMap(({ id, status }) => (status === 202 ? [id!] : [])))
        if (isShort && came.some(({ status }) => status !== 202)) throw new Error('3 s are waited for')
      }
      other.close()
      const last = await send(installation, 'last')
      server.kill('SIGTERM')
      const code = await exitOf(server)
      const { integrity, ids } = readStore(installation.dataDir)
      const lost = missingFrom(promised, ids)
      const refused = answers.filter(({ status }) => status !== 202)
      const slowest = Math.max(...answers.map(({ ms }) => ms))
      const stall = Math.max(...looks.map(({ ms }) => ms))
      return {
        figures: `held 3 and ${longSeconds} s: ${promised.length} waited and accepted, ${refused.length} refused, ${lost.length} lost, ${slowest.toFixed(0)} ms at most; reads meanwhile ${stall.toFixed(0)} ms at most`,
        broken: [
          ...unless(refused.length > 0 && refused.every(isUnavailable), '503 for requests that waited too long'),
          ...unless(
            looks.every(({ status }) => status === 200),
            'reads continue meanwhile',
          ),
          ...unless(last.status === 202 && code === 0, 'it works again'),
          ...unless(lost.length === 0, `${lost.length} acknowledged messages are gone`),
          ...unless(integrity === 'ok', `integrity: ${integrity}`),
        ],
        slow: [
          ...unless(slowest <= PATIENCE_MS + SLACK_MS, `an answer takes ${slowest.toFixed(0)} ms`),
          ...unless(stall <= STALL_MS, `a read takes ${stall.toFixed(0)} ms`),
        ],
      }
    } finally {
      await installation.close()
    }
  },
}
