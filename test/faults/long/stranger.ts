import { freePort } from '../../support/free-port.ts'
import { exitOf, makeTestInstallation } from '../setup.ts'
import { startAttacker } from './attack/attacker.ts'
import { brokenBeside, figuresOf, type Healthy, healthyTraffic } from './beside.ts'
import { type Fault, unless } from './fault.ts'
import { STORE } from './inbound.ts'

const SILENT_DOMAINS = 200

/** A hostile stranger at the public ports: expensive mail for every parser, silent DNS, connection floods. Healthy
 *  mail keeps its speed in both directions, and the process answers. Rounds are seconds. */
export const stranger: Fault = {
  name: 'stranger',
  isTimed: true,
  needs: [],
  rounds: { long: 60, short: 6 },
  run: async ({ rounds: seconds, program, note }) => {
    const smtpPort = await freePort()
    const installation = await makeTestInstallation({
      program,
      smtp: `[smtp.inbound]\nlisten = "127.0.0.1:${smtpPort}"\nunlimited_networks = []`,
    })
    for (let n = 0; n < SILENT_DOMAINS; n++) {
      for (const before of ['', '_dmarc.']) installation.zone.fail(`${before}n${n}.silent.example`, 'timeout')
    }
    try {
      const server = await installation.serve()
      await installation.api('POST', '/v1/inbound-routes', STORE)
      const { data } = (await (await installation.api('GET', '/v1/domains')).json()) as {
        data: { return_path_host: string }[]
      }
      const measure = (run: string, forMs: number) =>
        healthyTraffic(installation, { pid: server.pid!, smtpPort, run, forMs })
      await measure('warm', 2_000)
      const alone = await measure('alone', Math.max(6_000, seconds * 250))
      const attacker = await startAttacker('stranger-load.ts', {
        smtpPort,
        httpPort: installation.port,
        recipients: ['desk@example.com', `postmaster@${data[0]!.return_path_host}`],
        silentDomains: SILENT_DOMAINS,
      })
      const beside = await twiceIfBroken(alone, (run) => measure(run, seconds * 1_000))
      note(`the stranger: ${await attacker.stop()}`)
      server.kill('SIGTERM')
      const code = await exitOf(server)
      return {
        figures: figuresOf(alone, beside),
        broken: [...brokenBeside(alone, beside), ...unless(code === 0, 'exit code 0')],
      }
    } finally {
      await installation.close()
    }
  },
}

/** Other work of the machine is in the figures too: a violated limit is measured once more, and nothing may be lost
 *  in either run. */
export async function twiceIfBroken(alone: Healthy, measure: (run: string) => Promise<Healthy>): Promise<Healthy> {
  const first = await measure('beside')
  if (brokenBeside(alone, first).length === 0) return first
  const second = await measure('again')
  return { ...second, lost: [...first.lost, ...second.lost] }
}
