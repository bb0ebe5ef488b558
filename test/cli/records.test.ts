import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { localUser } from '../../src/cli/local-user.ts'
import { postrider, startWith, testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

describe('management commands', () => {
  const place = testFolder()
  const inOneProcess = postriderInOneProcess()
  const records = (...args: string[]) => inOneProcess(...args, '--config', place.file)
  const json = async (...args: string[]) => {
    const { stdout, stderr, code } = await records(...args, '--json')
    if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`)
    return JSON.parse(stdout)
  }
  const expectRefused = async (code: number, line: string, ...args: string[]) => {
    const refused = await records(...args)
    expect(refused.stderr.trim()).toBe(line)
    expect(refused).toMatchObject({ code, stdout: '' })
  }
  let organizationId = ''

  beforeAll(async () => {
    place.writeConfig()
    organizationId = (await json('org', 'create', 'First', '--plan', 'pro')).id
  })
  afterAll(() => place.remove())

  test('an organization is created on a plan of the config, listed and moved to another plan', async () => {
    const made = await json('org', 'create', 'Second', '--plan', 'free')
    expect(made).toMatchObject({ name: 'Second', plan: 'free' })
    expect(Object.keys(made)).toEqual(['id', 'name', 'plan', 'created_at'])
    expect(await json('org', 'set-plan', 'Second', 'starter')).toEqual({ ...made, plan: 'starter' })
    const names = (await json('org', 'list')).data.map(({ name }: { name: string }) => name)
    expect(names.toSorted()).toEqual(['First', 'Second'])

    const plans = 'plan must be one of free, starter, pro, enterprise'
    await expectRefused(2, plans, 'org', 'create', 'Third', '--plan', 'gold')
    await expectRefused(2, plans, 'org', 'set-plan', 'Second', 'gold')
    await expectRefused(1, 'name: An organization with this name already exists.', 'org', 'create', 'Second')
    await expectRefused(2, 'name must not be blank', 'org', 'create', ' ')
  })

  test('changes by commands are in the audit log, with the local user', async () => {
    const { stdout, code } = await records('audit')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^TIME +ACTOR +FROM +ACTION +RESOURCE +FIELDS +OUTCOME\n/)
    const entries = (await json('audit', '--org', 'First', '--limit', '5')).data
    expect(entries.at(-1)).toMatchObject({
      organization_id: organizationId,
      actor: { type: 'operator', id: 'operator', name: localUser() },
      action: 'organizations_create',
      resource_id: organizationId,
      fields: ['name', 'plan'],
      ip_address: null,
      outcome: 'done',
    })
  })

  test('without the encryption key every command ends with 2, and after a rotation all commands work', async () => {
    const [key, away] = [join(place.dataDir, 'seal.key'), join(place.folder, 'seal.key')]
    renameSync(key, away)
    const missing = `data_dir ${place.dataDir}: ${key} is missing. The secrets in the database were encrypted with it. Restore the file from your backup.`
    await expectRefused(2, missing, 'org', 'list')
    await expectRefused(2, missing, 'serve')
    renameSync(away, key)
    expect((await json('seal', 'rotate')).secrets).toBeGreaterThanOrEqual(0)
    expect((await json('audit', '--limit', '1')).data[0]).toMatchObject({
      action: 'seal_rotate',
      organization_id: null,
      outcome: 'done',
    })
  })

  test('a domain is added once, shown, listed, looked at in DNS and given new DKIM keys', async () => {
    const made = await json('domain', 'add', 'Example.COM', '--org', organizationId)
    expect(made).toMatchObject({ name: 'example.com', status: 'pending' })
    await expectRefused(1, 'name: This domain already exists.', 'domain', 'add', 'example.com', '--org', 'First')
    const words = (await records('domain', 'show', 'example.com')).stdout
    expect(words).toContain('example.com is pending')
    expect(words).toContain('v=DKIM1; k=rsa; p=')
    expect(words).toMatch(/MX {4}bounces\.example\.com/)
    expect(words).toContain('The MX record of example.com routes all its mail to this server')
    expect(await json('domain', 'show', 'example.com')).toEqual(made)
    expect((await json('domain', 'list')).data).toEqual([made])
    expect((await json('domain', 'list', '--org', 'First')).data).toEqual([made])

    const rotated = await json('domain', 'rotate-dkim', 'example.com')
    expect(rotated.dkim.map(({ state }: { state: string }) => state).toSorted()).toEqual([
      'active',
      'active',
      'pending',
      'pending',
    ])
    const again = await records('domain', 'rotate-dkim', 'example.com')
    expect(again.code).toBe(1)
    const nowhere = 'domain: no domain example.org. List domains with: postrider domain list'
    await expectRefused(1, nowhere, 'domain', 'show', 'example.org')
    await expectRefused(1, nowhere, 'domain', 'verify', 'example.org')
    const noName = 'Enter a registrable domain, not a public suffix'
    await expectRefused(2, noName, 'domain', 'add', 'co.uk', '--org', 'First')
  })

  test('a key is shown once with its value, listed without it, and revoked', async () => {
    await json('domain', 'add', 'keys.example.com', '--org', 'First')
    const create = ['key', 'create', '--domain', 'keys.example.com', '--permission', 'send', '--permission', 'read']
    const made = await json(...create, '--mode', 'test', '--name', 'my app', '--expires', '2999-01-01T00:00:00Z')
    const { key, ...record } = made
    expect(key).toMatch(/^svc_test_[0-9A-Za-z]{40}$/)
    expect(record).toMatchObject({
      name: 'my app',
      domain: 'keys.example.com',
      mode: 'test',
      permissions: ['send', 'read'],
      prefix: key.slice(0, 16),
      expires_at: '2999-01-01T00:00:00.000Z',
      revoked_at: null,
    })
    expect((await json('key', 'list', '--domain', 'keys.example.com')).data).toEqual([record])
    expect(await json('key', 'revoke', record.id)).toEqual({ id: record.id, deleted: true })
    expect((await json('key', 'list', '--domain', 'keys.example.com')).data[0].revoked_at).not.toBeNull()
    expect((await records('key', 'list')).stdout).toContain('revoked')
    const [value, , note] = (await records(...create, '--name', 'again')).stdout.split('\n')
    expect(value).toMatch(/^svc_live_[0-9A-Za-z]{40}$/)
    expect(note).toMatch(/^Store this key now: it is shown only once\. key_\w+: send, read for keys\.example\.com\.$/)

    const permission = 'permissions[2] must be one of send, read, manage, admin'
    await expectRefused(2, permission, ...create, '--permission', 'everything')
    await expectRefused(2, 'expires_at must be in the future', ...create, '--expires', '2001-01-01')
    const noDomain = 'domain: no domain x.example.com. List domains with: postrider domain list'
    await expectRefused(1, noDomain, 'key', 'create', '--domain', 'x.example.com', '--permission', 'send')
    await expectRefused(1, 'key: no key key_x. List keys with: postrider key list', 'key', 'revoke', 'key_x')
  })

  test('a message is refused by the rules of the API, with a line for every bad field', async () => {
    await json('domain', 'add', 'send.example.com', '--org', 'First')
    const send = ['send', '--from', 'Ann <ann@send.example.com>', '--to', 'bob@example.net', '--subject', 'Hello']
    const notVerified = 'from: send.example.com is not verified yet. Publish its DNS records and verify the domain.'
    await expectRefused(1, notVerified, ...send, '--text', 'Hello')
    await expectRefused(2, 'Provide html, text or template_id.', ...send)
    const twice = await records(
      'send',
      '--from',
      'a@send.example.com',
      '--to',
      'nobody',
      '--subject',
      ' ',
      '--text',
      'x',
    )
    expect(twice.code).toBe(2)
    expect(twice.stderr.trim().split('\n')).toHaveLength(2)

    const page = join(place.folder, 'page.html')
    writeFileSync(page, '<p>Hello</p>')
    const sandbox = await json(...send, '--html-file', page, '--mode', 'test')
    expect(sandbox.status).toBe('delivered')
    const bounced = ['send', '--from', 'ann@send.example.com', '--to', 'bounce@example.net', '--subject', 'Hello']
    expect((await records(...bounced, '--text', 'x', '--mode', 'test', '--wait', '5')).code).toBe(1)
    const missing = await records(...send, '--html-file', join(place.folder, 'nothing.html'))
    expect(missing.code).toBe(2)
  })

  test('a usage error has exit code 2 and nothing on standard output', async () => {
    const wrong: string[][] = [
      ['sevre'],
      ['domain'],
      ['domain', 'add'],
      ['key', 'create', '--permission', 'send'],
      ['key', 'create', '--domain', 'example.com'],
      ['send', '--from', 'a@example.com'],
      ['key', 'create', '--domain', 'example.com', '--permission', 'send', '--mode', 'other'],
      ['try', '--port', '70000'],
      ['version', '--nonsense'],
    ]
    for (const args of wrong) expect(await inOneProcess(...args)).toMatchObject({ code: 2, stdout: '' })
  })

  test('version, help and the config commands print to standard output', async () => {
    expect(JSON.parse((await postrider('version', '--json')).stdout)).toMatchObject({ version: '0.1.0' })
    expect((await postrider('version')).stdout).toStartWith('postrider 0.1.0')
    expect(await postrider('--help')).toMatchObject({ code: 0, stderr: '' })
    const example = await postrider('config', 'example')
    expect(example.stdout).toBe(await Bun.file(join(import.meta.dir, '../../config.example.toml')).text())
    expect(await records('config', 'check')).toMatchObject({
      code: 0,
      stdout: `${place.file}: configuration is valid\n`,
    })

    const byEnvironment = await startWith({ POSTRIDER_CONFIG: place.file }, 'config', 'check')
    expect((await byEnvironment.ended).code).toBe(0)
    const wrongVariable = await startWith({ POSTRIDER_HTTP_LISTEN: 'x' }, 'config', 'check', '--config', place.file)
    expect((await wrongVariable.ended).code).toBe(2)
  })

  test('every command reports all faults of a config', async () => {
    const bad = join(place.folder, 'bad.toml')
    writeFileSync(bad, 'hostnam = "x.example"\n[http]\nlisten = 3\n[log]\nlevel = "loud"\n')
    for (const args of [['config', 'check'], ['serve'], ['org', 'list'], ['init', '--domain', 'example.com']]) {
      const { code, stdout, stderr } = await postrider(...args, '--config', bad)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain(`${bad}:1: hostnam: `)
      expect(stderr).toContain(`${bad}:3: http.listen: `)
      expect(stderr).toContain(`${bad}:5: log.level: `)
      expect(stderr).toContain(`${bad}: hostname: `)
    }
    expect(await postrider('serve', '--config', join(place.folder, 'none.toml'))).toMatchObject({ code: 2 })
  })

  test.skipIf(process.getuid?.() !== 0)(
    'root leaves no file of its own in the data directory of another user',
    async () => {
      const SOMEBODY = 12_345
      const files = () => [place.dataDir, ...readdirSync(place.dataDir).map((name) => join(place.dataDir, name))]
      for (const file of files()) chownSync(file, SOMEBODY, SOMEBODY)
      chmodSync(place.folder, 0o755)
      const mail = ['--from', 'a@owned.example', '--to', 'b@c.example', '--subject', 'S', '--text', 'T']
      for (const args of [
        ['domain', 'add', 'owned.example', '--org', organizationId],
        ['send', ...mail, '--mode', 'test'],
      ]) {
        // In a process of its own, which becomes that user.
        expect((await postrider(...args, '--config', place.file)).code).toBe(0)
      }
      expect(new Set(files().map((file) => statSync(file).uid))).toEqual(new Set([SOMEBODY]))
    },
  )

  test.skipIf(process.getuid?.() !== 0)(
    'config check as root reports a file that the server may not read',
    async () => {
      const secret = join(place.folder, 'ca.pem')
      writeFileSync(secret, 'a certificate', { mode: 0o600 })
      const config = join(place.folder, 'of-root.toml')
      const text = `hostname = "mail.example.com"\ndata_dir = "${place.dataDir}"\n[webhooks]\nca_file = "${secret}"\n`
      writeFileSync(config, text, { mode: 0o644 })
      chmodSync(place.folder, 0o755)
      chownSync(place.dataDir, 12_345, 12_345)
      const checked = await postrider('config', 'check', '--config', config)
      expect(checked).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(secret) })
    },
  )

  test('a missing config gives one line with the command to create it', async () => {
    const missing = join(place.folder, 'missing.toml')
    const refused = await postrider('serve', '--config', missing)
    const line = `${missing}: file not found. Create it with: postrider init\n`
    expect(refused).toEqual({ code: 2, stdout: '', stderr: line })
  })
})
