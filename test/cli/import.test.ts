import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postrider as alone, PROGRAM, plainEnvironment, testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

describe('postrider import suppressions', () => {
  const place = testFolder()
  const postrider = postriderInOneProcess()
  const run = (...args: string[]) => postrider(...args, '--config', place.file)
  const write = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(place.folder, name), content)
    return join(place.folder, name)
  }
  const importFile = (file: string, ...more: string[]) => run('import', 'suppressions', file, '--json', ...more)
  const NOTHING = { added: 0, already_there: 0, passed_over: 0, bad: 0, dry_run: false }

  beforeAll(async () => {
    place.writeConfig()
    await run('org', 'create', 'Shop')
  })
  afterAll(() => place.remove())

  test('imports a list once, and reports each refused line by its number', async () => {
    const lines = Array.from({ length: 1_200 }, (_, at) => `a${at}@x.example,1443651125,550 unknown user,5.1.1`)
    lines[3] = 'nobody,1443651125,550,5.1.1'
    lines[4] = 'full@x.example,1443651125,452 full,4.2.2'
    const file = write('bounces.csv', `email,created,reason,status\r\n${lines.join('\r\n')}\r\n`)
    const dry = await importFile(file, '--dry-run')
    expect(JSON.parse(dry.stdout)).toEqual({ ...NOTHING, added: 1_198, passed_over: 1, bad: 1, dry_run: true })
    const first = await importFile(file)
    expect(JSON.parse(first.stdout)).toEqual({ ...NOTHING, added: 1_198, passed_over: 1, bad: 1 })
    expect(first.stderr.trim().split('\n')).toEqual([
      'line 5: has no email address',
      'line 6: skipped: was a temporary failure, which is not imported',
    ])
    expect(first.code).toBe(1)
    const again = await importFile(file, '--org', 'Shop', '--from', 'sendgrid')
    expect(JSON.parse(again.stdout)).toEqual({ ...NOTHING, already_there: 1_198, passed_over: 1, bad: 1 })
    const audit = JSON.parse((await run('audit', '--json', '--limit', '3')).stdout).data
    expect(audit.map(({ action }: { action: string }) => action)).toEqual([
      'suppressions_import',
      'suppressions_import',
      'organizations_create',
    ])
  })

  test('detects the provider by the file name, an option overrides it, and UTF-16 is read', async () => {
    const text = '\ufeffaddress,created_at\r\nü@x.example,\r\n'
    const file = write('complaints.csv', Buffer.from(text, 'utf16le'))
    const result = await run('import', 'suppressions', file)
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout).toBe('1 added, 0 already suppressed, 0 skipped, 0 unreadable\n')
    const withoutReason = await importFile(write('list.csv', 'address,created_at\nb@x.example,\nc@x.example,\n'))
    expect([withoutReason.code, withoutReason.stderr.trim()]).toEqual([
      1,
      'line 2: The list does not say whether these are bounces, complaints or unsubscribes. Set reason.',
    ])
    const withReason = await importFile(join(place.folder, 'list.csv'), '--reason', 'unsubscribe')
    expect(JSON.parse(withReason.stdout)).toEqual({ ...NOTHING, added: 2 })
  })

  test('reports an invalid or missing list in one line with exit code 1', async () => {
    const none = join(place.folder, 'none.csv')
    expect(await importFile(none)).toMatchObject({ code: 1, stdout: '', stderr: `${none}: file not found\n` })
    const empty = write('empty.json', '{"items":[]}')
    expect(await importFile(empty)).toMatchObject({ code: 1, stderr: `${empty}: no records found\n` })
    expect((await run('import', 'suppressions', empty, '--from', 'nobody')).code).toBe(2)
  })

  test('is followed by commands that list suppressions, and let an address get mail again', async () => {
    await importFile(
      write('left.csv', 'email,reason,created\nleft@y.example,550 5.1.1 gone,1443651125\n'),
      '--reason',
      'manual',
    )
    const listed = await run('suppression', 'list', '--reason', 'manual')
    expect(listed).toMatchObject({ code: 0, stderr: '' })
    expect(listed.stdout).toMatch(
      /^SINCE +ADDRESS +REASON +STREAM +SOURCE\n2015-09-30T\S+ +left@y\.example +manual +all +/,
    )
    expect(await run('suppression', 'remove', 'Left@y.example')).toMatchObject({
      code: 0,
      stdout: 'removed suppression of Left@y.example\n',
    })
    expect((await run('suppression', 'list', '--email', 'left@y.example')).stdout).toBe('no suppressions\n')
    expect(await run('suppression', 'remove', 'left@y.example')).toMatchObject({ code: 1, stdout: '' })
  })

  test('puts a list into a stream, but not its hard bounces, and refuses a stream that is not configured', async () => {
    const rows = 'gone@z.example,HardBounce,Recipient\nleft@z.example,ManualSuppression,Recipient\n'
    const dump = write('dump.csv', `EmailAddress,SuppressionReason,Origin\n${rows}`)
    const unknown = await run('import', 'suppressions', dump, '--stream', 'news')
    expect([unknown.code, unknown.stdout]).toEqual([2, ''])
    expect(unknown.stderr).toContain('stream must be one of: bulk, transactional')
    expect((await run('import', 'suppressions', dump, '--stream', 'bulk')).stdout).toStartWith('2 added')
    expect((await run('suppression', 'add', 'left@z.example', '--stream', 'transactional')).code).toBe(0)
    const { stdout } = await run('suppression', 'list', '--stream', 'bulk')
    expect(stdout).toMatch(/^SINCE.*\n\S+ +left@z\.example +unsubscribe +bulk .*\n$/)
    expect((await run('suppression', 'list', '--email', 'gone@z.example')).stdout).toMatch(/ hard_bounce +all /)
  })

  test('reads standard input for -', async () => {
    const command = [...PROGRAM, 'import', 'suppressions', '-', '--json', '--config', place.file]
    const child = Bun.spawn(command, {
      env: plainEnvironment(),
      stdin: Buffer.from('email,reason\nstdin@x.example,manual\n'),
      stdout: 'pipe',
    })
    expect(JSON.parse(await new Response(child.stdout).text())).toEqual({ ...NOTHING, added: 1 })
    expect(await child.exited).toBe(0)
  })

  test.skipIf(process.getuid?.() !== 0)('root imports a file that the owner of the data may not read', async () => {
    const file = write('of-root.csv', 'email,reason\nroot@x.example,manual\n')
    chmodSync(file, 0o600)
    chmodSync(place.folder, 0o755)
    const names = readdirSync(place.dataDir).map((name) => join(place.dataDir, name))
    for (const each of [place.dataDir, ...names]) chownSync(each, 12_345, 12_345)
    // In a process of its own, which becomes that user.
    const imported = await alone('import', 'suppressions', file, '--json', '--config', place.file)
    expect(imported).toMatchObject({ code: 0, stderr: '' })
  })
})
