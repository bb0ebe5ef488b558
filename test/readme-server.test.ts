import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startZone, type Zone } from '../src/cli/try/zone-server.ts'
import { DOCUMENTATION } from './support/documentation.ts'
import { installCommands } from './support/machine-commands.ts'
import { PATIENCE_MS } from './support/patience.ts'
import { type RemoteMx, startRemoteMx } from './support/remote-mx.ts'

/** The setup of a server as the manual describes it. The blocks after `<!-- on the server -->` run as they are, one after the
 *  other, with other ports, another directory for /var, a DNS and a mail server on loopback, and a systemctl that starts and
 *  stops the real server. `exit 1` in the comment is the exit code of the last line. Commands that install or copy files as
 *  root, or need a public domain, have no comment. */
const TEXTS = DOCUMENTATION.map(({ text }) => text)
const blocks = TEXTS.flatMap((text) => [
  ...text.matchAll(/^<!-- on the server(?:: exit (\d))? -->\n```sh\n([\s\S]*?)^```$/gm),
]).map(([, code = '0', lines = '']) => ({ code: Number(code), lines }))

test('every marked block is found', () => {
  expect(blocks).toHaveLength(TEXTS.join('').split('<!-- on the server').length - 1)
  expect(blocks.length).toBeGreaterThan(10)
})

describe('the setup of a server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-readme-test-'))
  let zone: Zone
  let remote: RemoteMx
  let env: Record<string, string>

  beforeAll(async () => {
    remote = await startRemoteMx({
      script: { rcpt: (to) => (to.startsWith('nobody@') ? '550 5.1.1 no such user' : null) },
    })
    zone = await startZone([
      { name: 'mail.example.com', type: 'A', data: '127.0.0.1' },
      { name: 'elsewhere.example', type: 'MX', data: { preference: 10, exchange: 'mx.elsewhere.example' } },
      { name: 'mx.elsewhere.example', type: 'A', data: '127.0.0.1' },
    ])
    installCommands(folder)
    writeFileSync(
      join(folder, 'bounces.csv'),
      'EmailAddress,SuppressionReason,Origin,CreatedAt\nleft@elsewhere.example,HardBounce,Recipient,2025-11-09T13:52:02Z\n',
    )
    writeFileSync(
      join(folder, 'templates.json'),
      JSON.stringify([
        { id: 'd-1', name: 'Hello', versions: [{ active: 1, subject: 'Hello', html_content: '{{name}}' }] },
      ]),
    )
    env = {
      PATH: `${folder}:${process.env.PATH}`,
      HOME: folder,
      POSTRIDER_CONFIG: join(folder, 'config.toml'),
      POSTRIDER_DATA_DIR: join(folder, 'data'),
      POSTRIDER_HTTP_LISTEN: '127.0.0.1:0',
      POSTRIDER_HTTP_LISTEN_TLS: 'off',
      POSTRIDER_HTTP_LISTEN_REDIRECT: 'off',
      POSTRIDER_TLS_MODE: 'files',
      // A server that only loopback reaches skips the checks of public servers.
      POSTRIDER_SMTP_INBOUND_LISTEN: '0.0.0.0:0',
      POSTRIDER_DNS_SERVERS: zone.address,
      POSTRIDER_DELIVERY_PORT: String(remote.port),
      POSTRIDER_DELIVERY_ALLOW_PRIVATE_DESTINATIONS: 'true',
    }
  })
  afterAll(async () => {
    await run('systemctl stop postrider')
    await zone.stop()
    await remote.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const { code, lines } of blocks) {
    test(`this ends with ${code}: ${lines.trim().split('\n').at(-1)}`, async () => {
      if (lines.includes('dns check')) await publish()
      const ended = await run(lines)
      expect({ code: ended.code, stderr: code === ended.code ? '' : ended.stderr }).toEqual({ code, stderr: '' })
      expect(ended.stdout).not.toBe('')
    })
  }

  test('one mail arrived at its recipient', () => {
    expect(remote.mails.map(({ rcptTo }) => rcptTo)).toEqual([['you@elsewhere.example']])
  })

  /** What the domain's owner does with the table of records. */
  async function publish(): Promise<void> {
    const { records } = JSON.parse((await run('postrider dns show example.com --json')).stdout)
    for (const { type, name, value, priority, required } of records) {
      if (!required) continue
      zone.set(name, type, [type === 'MX' ? { preference: priority, exchange: value } : value])
    }
  }

  async function run(lines: string) {
    const script = `set -eu\n${lines.replaceAll('/var/', `${folder}/`)}`
    const child = Bun.spawn(['sh', '-c', script], {
      env,
      cwd: folder,
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: PATIENCE_MS,
    })
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, stdout, stderr }
  }
})
