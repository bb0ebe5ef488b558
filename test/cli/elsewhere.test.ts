import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FOR_OPERATOR } from '../../src/cli/results.ts'
import { accessOf } from '../support/access.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { addUser } from '../support/user-mail.ts'
import { startWith } from './command.ts'

/** Commands that are operations, run on another server by an API key. */

describe('a command elsewhere', () => {
  let remote: RemoteMx
  let server: TestServer
  let folder: string
  beforeAll(async () => {
    remote = await startRemoteMx()
    server = await startTestServer({ remote })
    folder = mkdtempSync(join(tmpdir(), 'postrider-elsewhere-'))
    writeFileSync(join(folder, 'key'), `${server.keys.live}\n`)
    writeFileSync(join(folder, 'config.toml'), `hostname = "mail.sender.example"\ndata_dir = "${server.dataDir}"\n`)
  })
  afterAll(async () => {
    await server.close()
    await remote.stop()
    rmSync(folder, { recursive: true })
  })

  const url = () => `http://${server.running().listening.http}`
  const there = (key = server.keys.live) => ({ POSTRIDER_URL: url(), POSTRIDER_API_KEY: key })
  const run = async (env: Record<string, string>, ...args: string[]) => (await startWith(env, ...args)).ended
  const config = () => ['--config', join(folder, 'config.toml')]

  test('prints what it prints on the server, with names, ids and JSON', async () => {
    const { body } = await server.send()
    await server.ended(body.id)
    const domain = server.store().domains
    const { name } = (await domain.list(server.organizationId, { limit: 1, after: null })).records[0]!
    for (const command of [
      ['domain', 'show', name],
      ['webhook', 'list', '--json'],
      ['key', 'list', '--domain', name],
      ['message', 'show', body.id],
    ]) {
      const [here, elsewhere] = [await run({}, ...command, ...config()), await run(there(), ...command)]
      expect(here).toMatchObject({ code: 0, stderr: '' })
      expect(elsewhere).toEqual(here)
    }
  })

  test('takes server and key from options, and sends and follows a message', async () => {
    const server_ = ['--url', `${url()}/v1/`, '--key-file', join(folder, 'key')]
    const mail = ['--from', 'shop@sender.example', '--to', 'ann@c.remote.example', '--subject', 'Hi', '--text', 'Hi']
    const sent = await run({}, 'send', ...mail, '--follow', ...server_)
    expect(sent).toMatchObject({ code: 0, stderr: '' })
    expect(sent.stdout).toMatch(/accepted +msg_.*\n.*delivered +ann@c\.remote\.example/)
    const explained = await run({}, 'explain', '--to', 'ann@c.remote.example', ...server_)
    expect(explained.stdout).toStartWith('A message from sender.example to ann@c.remote.example would be sent')
  })

  test('an empty POSTRIDER_URL is none', async () => {
    for (const command of ['domain', 'webhook'])
      expect(await run({ POSTRIDER_URL: '' }, command, 'list', ...config())).toMatchObject({ code: 0, stderr: '' })
  })

  test('imports a list, and reports its lines', async () => {
    const file = join(folder, 'bounces.csv')
    writeFileSync(file, 'email,reason\nx@c.example,hard_bounce\nnobody,hard_bounce\n')
    const imported = await run(there(), 'import', 'suppressions', file, '--json')
    expect(imported.stderr).toBe('line 3: has no email address\n')
    expect(imported.code).toBe(1)
    expect(JSON.parse(imported.stdout)).toEqual({ added: 1, already_there: 0, passed_over: 0, bad: 1, dry_run: false })
    const listed = await run(there(), 'suppression', 'list', '--email', 'x@c.example')
    expect(listed.stdout).toContain('hard_bounce')
  })

  test('shows the audit log of the organization, and sets a role there', async () => {
    await addUser(server, 'eve@boss.example', { roles: { [server.organizationId]: 'viewer' } })
    const set = await run(there(), 'user', 'role', 'eve@boss.example', 'support')
    expect(set).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('support') })
    const nobody = await run(there(), 'user', 'role', 'nobody@boss.example', 'support')
    expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('no user nobody@boss.example') })
    const [here, elsewhere] = [await run({}, 'audit', '--org', 'Shop', ...config()), await run(there(), 'audit')]
    expect(elsewhere).toEqual(here)
    expect(elsewhere.stdout).toContain(' users_update ')
    const { data } = JSON.parse((await run(there(), 'audit', '--limit', '1', '--json')).stdout)
    expect(data).toMatchObject([{ action: 'users_update', outcome: 'done' }])
    const removed = await run(there(), 'user', 'remove', 'eve@boss.example')
    expect(removed).toMatchObject({ code: 0, stderr: '', stdout: 'eve@boss.example is removed\n' })
  })

  test('says what a key cannot do, and what needs the files of the server', async () => {
    const faults: [code: number, text: string, ...command: string[]][] = [
      [2, 'from must be an address at sender.example', 'send', '--from', 'a@b.example', '--to', 'a@b.example'],
      [1, 'No such message', 'message', 'explain', 'msg_none'],
      [2, 'org: an API key works in its own organization', 'domain', 'list', '--org', 'Shop'],
      [2, 'This command needs the files of the server: run it there', 'org', 'list'],
      [2, 'This command needs the files of the server: run it there', 'backup', folder],
      [2, 'run it there. From here: postrider domain show sender.example', 'dns', 'show', 'sender.example'],
      [2, 'run it there. From here: postrider domain verify sender.example', 'dns', 'check', 'sender.example'],
      [2, 'run it there. From here: invite people', 'user', 'add', 'a@b.example', '--operator'],
    ]
    for (const [code, text, ...command] of faults) {
      const more = command[0] === 'send' ? ['--subject', 'Hi', '--text', 'Hi'] : []
      const env = { ...there(), POSTRIDER_CONFIG: join(folder, 'none.toml') }
      const ended = await run(env, ...command, ...more)
      expect([command, ended.stderr]).toEqual([command, expect.stringContaining(text)])
      if (command[0] !== 'send') expect(ended.code).toBe(code)
    }
    const bare = await run({ POSTRIDER_URL: url() }, 'domain', 'list')
    expect(bare).toMatchObject({ code: 2, stderr: expect.stringContaining('POSTRIDER_API_KEY') })
    const both = await run({}, 'domain', 'list', '--url', url(), ...config())
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('exclude each other') })
    const wrong = await run(there('svc_live_wrong'), 'domain', 'list')
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('API key') })
  })
})

test('the operations without --url are those that no key can call', () => {
  const wrong = [...FOR_OPERATOR].filter((id) => accessOf(id)?.role !== 'operator')
  expect(wrong).toEqual([])
})
