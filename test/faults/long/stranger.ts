import { freePort } from '../../support/free-port.ts'
import { exitOf, makeTestInstallation } from '../setup.ts'
import { startAttacker } from './attack/attacker.ts'
import { figuresOf, healthyTraffic, violatedBeside } from './beside.ts'
import { type Fault, unless } from './fault.ts'
import { STORE } from './inbound.ts'

const SILENT_DOMAINS = 200

/** A hostile stranger at the public ports: expensive mail for every parser, silent DNS, connection floods. Healthy
 *  mail keeps its speed in both directions, and the process answers. Rounds are seconds. */
export const stranger: Fault = {
  name: 'stranger',
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
      const beside = await measure('beside', seconds * 1_000)
      note(`the stranger: ${await attacker.stop()}`)
      server.kill('SIGTERM')
      const code = await exitOf(server)
      const { broken, slow } = violatedBeside(alone, beside)
      return {
        figures: figuresOf(alone, beside),
        broken: [...broken, ...unless(code === 0, 'exit code 0')],
        slow,
      }
    } finally {
      await installation.close()
    }
  },
}
