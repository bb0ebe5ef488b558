import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startZone, type Zone } from '../src/cli/try/zone-server.ts'
import { startWith } from './cli/command.ts'
import { documentationOf } from './support/documentation.ts'
import { installCommands } from './support/machine-commands.ts'
import { PATIENCE_MS } from './support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from './support/postgres.ts'

/** The setup of several nodes as the manual describes it. The blocks after `<!-- on node 1 -->`, `<!-- on node 2 -->` and
 *  `<!-- on the database server -->` run as they are, one after the other, with other ports and with folders for machines. */
const blocks = [
  ...documentationOf('nodes').matchAll(/^<!-- on (node \d|the database server) -->\n```sh\n([\s\S]*?)^```$/gm),
].map(([, machine = '', lines = '']) => ({ machine, lines }))
const EXAMPLES = join(import.meta.dir, '../scripts/examples')

test('every marked block is found', () => {
  expect(blocks).toHaveLength(documentationOf('nodes').split('<!-- on ').length - 1)
  expect(new Set(blocks.map(({ machine }) => machine)).size).toBe(3)
})

describeWithPostgres('several nodes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-readme-test-'))
  const machine = (name: string) => join(folder, name.replaceAll(' ', '-'))
  const undo: (() => unknown)[] = []
  let postgres: TestPostgres
  let zone: Zone
  let env: Record<string, string>

  beforeAll(async () => {
    postgres = await startPostgres()
    zone = await startZone([{ name: 'mx1.example.com', type: 'A', data: '127.0.0.1' }])
    for (const { machine: name } of blocks) mkdirSync(machine(name), { recursive: true })
    env = {
      POSTRIDER_HTTP_LISTEN: '127.0.0.1:0',
      POSTRIDER_SMTP_INBOUND_LISTEN: 'off',
      POSTRIDER_DNS_SERVERS: zone.address,
      POSTRIDER_DELIVERY_PORT: '1',
      POSTRIDER_DELIVERY_ALLOW_PRIVATE_DESTINATIONS: 'true',
    }
  })
  afterAll(async () => {
    for (const step of undo.reverse()) await step()
    for (const name of ['node 1', 'node 2']) await run(name, 'systemctl stop postrider')
    await zone.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const { machine: name, lines } of blocks) {
    test(`this runs on ${name}: ${lines.trim().split('\n').at(-1)}`, async () => {
      if (name.startsWith('node')) prepare(name)
      const { code, stdout, stderr } = await run(name, lines)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      if (name.startsWith('node')) expect(stdout).not.toBe('')
      if (!lines.includes('node list')) return
      expect(stdout).toMatch(/mx1\.example\.com +mx1\.example\.com +\S+ +active/)
      expect(stdout).toMatch(/mx2\.example\.com +mx2\.example\.com +\S+ +active/)
    })
  }

  test('the example for containers sets up two nodes that answer a proxy', async () => {
    const file = Bun.YAML.parse(readFileSync(join(EXAMPLES, 'compose.cluster.yaml'), 'utf8')) as Compose
    const url = await postgres.createDatabase('compose')
    const settingsOf = (service: string): Record<string, string> => {
      const [dataDir = ''] = file.services[service]!.volumes
      return {
        ...file.services[service]!.environment,
        POSTRIDER_DATABASE_URL: url,
        POSTRIDER_DATA_DIR: join(folder, dataDir.split(':')[0]!),
        POSTRIDER_HTTP_LISTEN: '127.0.0.1:0',
        POSTRIDER_SMTP_INBOUND_LISTEN: 'off',
        POSTRIDER_CONFIG: '',
      }
    }
    const command = async (service: string) => {
      const args = file.services[service]!.command!.map((arg) => arg.replace('/first/', `${join(folder, 'node1')}/`))
      return (await startWith(settingsOf(service), ...args)).ended
    }
    for (const service of ['init', 'join']) expect(await command(service)).toMatchObject({ code: 0, stderr: '' })
    for (const service of ['init', 'join']) {
      expect((await command(service)).stdout).toContain('Nothing was changed')
    }
    for (const service of ['node1', 'node2']) {
      const server = await startWith(settingsOf(service), 'serve')
      undo.push(async () => {
        server.kill('SIGTERM')
        await server.ended
      })
      const { http } = JSON.parse(await server.line)
      const proxy = readFileSync(join(EXAMPLES, 'compose.cluster.yaml'), 'utf8')
      expect(proxy).toContain(`${service}:8025`)
      const path = /health_uri (\S+)/.exec(proxy)?.[1]
      expect((await fetch(`http://${http}${path}`)).status).toBe(200)
    }
    const sql = 'select count(*) from nodes where handles_mail and ended_at is null'
    expect(postgres.psql(sql, 'compose')).toBe('2')
  })

  test('PostgreSQL accepts the parameters of the example for Patroni', () => {
    const text = readFileSync(join(EXAMPLES, 'patroni.md'), 'utf8')
    const config = Bun.YAML.parse(/^```yaml\n([\s\S]*?)^```$/m.exec(text)![1]!) as {
      bootstrap: { dcs: { postgresql: { parameters: Record<string, string | number> } } }
      postgresql: { parameters: Record<string, string | number> }
    }
    const parameters = { ...config.bootstrap.dcs.postgresql.parameters, ...config.postgresql.parameters }
    expect(Object.keys(parameters).length).toBeGreaterThan(6)
    for (const [name, value] of Object.entries(parameters)) {
      postgres.psql(`alter system set ${name} = '${value}'`)
      postgres.psql(`alter system reset ${name}`)
    }
  })

  /** The operator has copied URL and key to a further node. */
  function prepare(name: string): void {
    if (name === 'node 1' || existsSync(join(machine(name), 'config.toml'))) return
    copyFileSync(join(machine('node 1'), 'url'), join(machine(name), 'url'))
    copyFileSync(join(machine('node 1'), 'data/seal.key'), join(machine(name), 'seal.key'))
  }

  async function run(name: string, lines: string) {
    const home = machine(name)
    installCommands(home)
    // The first server does not answer.
    const hosts = `127.0.0.1:1,127.0.0.1:${postgres.port}`
    const child = Bun.spawn(['sh', '-c', `set -eu\n${lines.replace('db1.example.com,db2.example.com', hosts)}`], {
      env: {
        ...env,
        PATH: `${home}:${process.env.PATH}`,
        HOME: home,
        PGHOST: '127.0.0.1',
        PGPORT: String(postgres.port),
        PGUSER: 'postgres',
        POSTRIDER_CONFIG: join(home, 'config.toml'),
        POSTRIDER_DATA_DIR: join(home, 'data'),
      },
      cwd: home,
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: PATIENCE_MS,
    })
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, stdout, stderr }
  }
})

interface Compose {
  services: Record<string, { command?: string[]; environment: Record<string, string>; volumes: string[] }>
}
