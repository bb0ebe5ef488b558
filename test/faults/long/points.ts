import { join } from 'node:path'
import { until } from '../../support/patience.ts'
import { exitOf, makeTestInstallation } from '../setup.ts'
import { readStore, startClients, twice } from './books.ts'
import { type Fault, missingFrom, unless } from './fault.ts'
import { inject } from './strace.ts'

const CLIENTS = 4
const LIMIT_MS = 5_000

/** Killed at its N-th fsync, write to a file and write to a socket: between any two steps of a mail's path. */
export const points: Fault = {
  name: 'points',
  needs: ['strace'],
  rounds: { long: 200, short: 6 },
  run: async ({ rounds, program, scratch }) => {
    const installation = await makeTestInstallation({ program })
    const calls = ['fsync', 'sendto', 'pwrite64']
    const reached = new Map(calls.map((call) => [call, 0]))
    const promised = new Map<string, string>()
    try {
      for (let round = 0; round < rounds; round++) {
        const call = calls[round % calls.length]!
        // After the steps of the start itself, which are few and always the same.
        const nth = 3 + Math.floor(((round + 1) / rounds) * 200)
        const server = await installation
          .serve(inject(call, `signal=KILL:when=${nth}`, join(scratch, 'strace')))
          .catch(() => null)
        if (server === null) {
          reached.set(call, reached.get(call)! + 1) // at the start already
          continue
        }
        const clients = startClients(installation, { run: `${round}`, count: CLIENTS, patient: false })
        const ended = exitOf(server).then(() => true)
        if (await Promise.race([ended, Bun.sleep(LIMIT_MS).then(() => false)]))
          reached.set(call, reached.get(call)! + 1)
        server.kill('SIGKILL')
        await exitOf(server)
        await clients.stop()
        for (const [token, id] of clients.promised) promised.set(token, id)
      }
      const server = await installation.serve()
      // A request without a response is repeated with its key.
      const again = startClients(installation, { run: '0', count: CLIENTS })
      await again.stop()
      await until(
        'every promised mail to arrive',
        () => missingFrom(promised.keys(), installation.sink.mails).length === 0,
      ).catch(() => {})
      server.kill('SIGTERM')
      await exitOf(server)
      const { integrity, ids, perSubject } = readStore(installation.dataDir)
      const lost = missingFrom(promised.values(), ids)
      const undelivered = missingFrom(promised.keys(), installation.sink.mails)
      const double = twice(perSubject)
      const at = [...reached].map(([call, count]) => `${count} at ${call}`).join(', ')
      return {
        figures: `killed ${at}; ${promised.size} acknowledged, ${lost.length} lost, ${double} keys with two messages`,
        broken: [
          ...unless(lost.length === 0, `${lost.length} acknowledged messages are gone`),
          ...unless(undelivered.length === 0, `${undelivered.length} never arrived`),
          ...unless(double === 0, 'one message for each key'),
          ...unless(integrity === 'ok', `integrity: ${integrity}`),
          ...unless(
            [...reached.values()].some((count) => count > 0),
            'no kill took effect: nothing was tested',
          ),
        ],
      }
    } finally {
      await installation.close()
    }
  },
}
