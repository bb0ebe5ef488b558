import { join } from 'node:path'
import { PATIENCE_MS } from '../../support/patience.ts'
import { exitOf, makeTestInstallation, type TestInstallation } from '../setup.ts'
import { type Asked, isUnavailable, look, send } from './ask.ts'
import { readStore } from './books.ts'
import { type Bench, type Fault, missingFrom, unless } from './fault.ts'
import { inject } from './strace.ts'

const BACK_MS = 15_000
const FAULTS = [
  { call: 'fsync', error: 'EIO', from: 40, count: 8 },
  { call: 'pwrite64', error: 'EIO', from: 600, count: 60 },
  { call: 'pwrite64', error: 'ENOSPC', from: 600, count: 60 },
]

/** Some fsyncs and writes in a row fail, then the disk works again. */
export const io: Fault = {
  name: 'io',
  needs: ['strace'],
  rounds: { long: FAULTS.length, short: FAULTS.length },
  run: async (bench) => {
    const lines: string[] = []
    const broken: string[] = []
    const slow: string[] = []
    for (const fault of FAULTS) {
      const name = `${fault.error} at ${fault.call}`
      const found = await suffer(bench, fault)
      lines.push(`${name}: ${found.figures}`)
      broken.push(...found.broken.map((line) => `${name}: ${line}`))
      slow.push(...found.slow.map((line) => `${name}: ${line}`))
    }
    return { figures: lines.join('; '), broken, slow }
  },
}

async function suffer({ program, scratch }: Bench, { call, error, from, count }: (typeof FAULTS)[number]) {
  const installation = await makeTestInstallation({ program })
  try {
    const when = `error=${error}:when=${from}..${from + count - 1}`
    const server = await installation.serve(inject(call, when, join(scratch, 'strace')))
    const answers: Asked[] = []
    const beganAt = performance.now()
    const tookMs = () => performance.now() - beganAt
    // Until it has failed and then accepted twenty more.
    for (let n = 0; tookMs() < PATIENCE_MS && !isOver(answers); n++) {
      answers.push(
        ...(await Promise.all([0, 1, 2].map((client) => send(installation, `${call}-${error}-${client}-${n}`)))),
      )
      await Bun.sleep(10)
    }
    const backMs = tookMs()
    const alive = await look(installation as TestInstallation, '/healthz')
    server.kill('SIGKILL') // promised data must not depend on a clean shutdown
    await exitOf(server)
    const again = await installation.serve()
    again.kill('SIGTERM')
    await exitOf(again)
    const { integrity, ids } = readStore(installation.dataDir)
    const promised = answers.flatMap(({ status, id }) => (status === 202 ? [id!] : []))
    const refused = answers.filter(({ status }) => status !== 202)
    const lost = missingFrom(promised, ids)
    return {
      figures: `${promised.length} acknowledged, ${refused.length} refused, ${lost.length} lost`,
      broken: [
        ...unless(refused.length > 0, 'nothing failed: nothing was tested'),
        ...unless(
          refused.every(isUnavailable),
          `503 unavailable, not ${JSON.stringify(refused.find((each) => !isUnavailable(each)))}`,
        ),
        ...unless(alive.status === 200, 'it answers /healthz'),
        ...unless(isOver(answers), 'it accepts mail again'),
        ...unless(lost.length === 0, `${lost.length} acknowledged messages are gone`),
        ...unless(integrity === 'ok', `integrity: ${integrity}`),
      ],
      slow: unless(backMs <= BACK_MS, `it accepts mail again after ${backMs.toFixed(0)} ms`),
    }
  } finally {
    await installation.close()
  }
}

const isOver = (answers: Asked[]) =>
  answers.some(({ status }) => status !== 202) && answers.slice(-20).every(({ status }) => status === 202)
