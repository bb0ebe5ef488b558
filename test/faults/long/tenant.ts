import { spawnSync } from 'node:child_process'
import { freePort } from '../../support/free-port.ts'
import { exitOf, makeTestInstallation } from '../setup.ts'
import { startAttacker } from './attack/attacker.ts'
import { figuresOf, healthyTraffic, violatedBeside } from './beside.ts'
import { type Fault, unless } from './fault.ts'
import { STORE } from './inbound.ts'

const DOMAIN = 'hostile.example'
/** Where its mail goes. */
const SINK = '127.0.0.9'

/** A hostile tenant of the Pro plan with valid keys: the largest requests, the worst templates, analysis and
 *  content, as many objects as allowed, endless endpoints. A healthy tenant keeps its speed. Rounds are seconds. */
export const tenant: Fault = {
  name: 'tenant',
  needs: [],
  rounds: { long: 60, short: 0 }, // its limits require an idle machine
  run: async ({ rounds: seconds, program, note }) => {
    const smtpPort = await freePort()
    const installation = await makeTestInstallation({
      program,
      smtp: `[smtp.inbound]\nlisten = "127.0.0.1:${smtpPort}"`,
      zone: [{ name: '*.fresh', type: 'A', data: SINK }],
    })
    const cli = (...words: string[]) => {
      const { status, stdout, stderr } = spawnSync(program, [...words, '--config', installation.config, '--json'])
      if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
      return JSON.parse(stdout.toString()) as { id: string; key: string }
    }
    try {
      const server = await installation.serve()
      const organization = cli('org', 'create', 'Hostile', '--plan', 'pro')
      cli('domain', 'add', DOMAIN, '--org', organization.id)
      const keyOf = (mode: string) =>
        cli('key', 'create', '--domain', DOMAIN, '--permission', 'admin', '--mode', mode).key
      await installation.api('POST', '/v1/inbound-routes', STORE)
      const measure = (run: string, forMs: number) =>
        healthyTraffic(installation, { pid: server.pid!, smtpPort, run, forMs })
      await measure('warm', 2_000)
      const alone = await measure('alone', Math.max(6_000, seconds * 250))
      const attacker = await startAttacker('tenant-load.ts', {
        origin: `http://127.0.0.1:${installation.port}`,
        live: keyOf('live'),
        sandbox: keyOf('test'),
        domain: DOMAIN,
        sink: { host: SINK, port: installation.sink.port },
        certificate: installation.receiver.ca,
        key: installation.receiver.key,
      })
      const beside = await measure('beside', seconds * 1_000)
      note(`the tenant: ${await attacker.stop()}`)
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
