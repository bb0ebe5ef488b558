import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { type FileServer, fileAnswer, startFileServer } from '../support/file-server.ts'
import { start, testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

// biome-ignore lint/suspicious/noExplicitAny: records of every kind
type Json = any

/** The commands on one installation, first without its server and then beside it. */
describe('sending, and the records around it', () => {
  const place = testFolder()
  const postrider = postriderInOneProcess()
  const run = (...args: string[]) => postrider(...args, '--config', place.file)
  const text = async (...args: string[]) => {
    const { stdout, stderr, code } = await run(...args)
    if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`)
    return stdout
  }
  const json = async (...args: string[]): Promise<Json> => JSON.parse(await text(...args, '--json'))
  const expectRefused = async (code: number, line: string | RegExp, ...args: string[]) => {
    const { stderr, ...rest } = await run(...args)
    expect(rest).toEqual({ code, stdout: '' })
    if (typeof line === 'string') expect(stderr.trim()).toBe(line)
    else expect(stderr.trim()).toMatch(line)
  }
  /** Writes a file and returns its path. */
  const file = (name: string, content: string) => {
    writeFileSync(join(place.folder, name), content)
    return join(place.folder, name)
  }
  const MAIL = ['send', '--mode', 'test', '--from', 'shop@example.com', '--to', 'ann@example.net']
  let files: FileServer
  let whole: Json
  let filled: Json

  beforeAll(async () => {
    const { keyPem, certificatePem } = await selfSignedCertificate({ names: ['127.0.0.1'], now: Date.now() })
    files = await startFileServer({ key: keyPem, cert: certificatePem })
    files.set('/bill.pdf', fileAnswer('%PDF-1', 'Content-Type: application/pdf'))
    const downloads = `allowed_private_networks = ["127.0.0.0/8"]\nca_file = ${JSON.stringify(file('ca.pem', certificatePem))}\n`
    place.writeConfig('127.0.0.1:0', `[attachments]\n${downloads}`)
    await text('org', 'create', 'Shop', '--plan', 'pro')
    await text('domain', 'add', 'example.com')
  })
  afterAll(() => {
    files.stop()
    place.remove()
  })

  test('send sets every field of a message', async () => {
    whole = await json(
      ...MAIL,
      ...['--cc', 'Bob <bob@example.net>', '--bcc', 'cy@example.net', '--reply-to', 'help@example.com'],
      ...['--subject', 'Your order', '--text-file', file('body.txt', 'Thank you.'), '--html', '<p>Thank you.</p>'],
      ...['--attach', file('note.txt', 'in the box'), '--attach', files.url('/bill.pdf')],
      ...['--tag', 'order', '--tag', 'paid', '--header', 'X-Order:  1:2 '],
    )
    const { data } = await json('message', 'list', '--tag', 'paid')
    expect(data).toMatchObject([
      {
        id: whole.id,
        status: 'delivered',
        cc: ['Bob <bob@example.net>'],
        bcc: ['cy@example.net'],
        reply_to: ['help@example.com'],
        tags: ['order', 'paid'],
      },
    ])
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const { stdout, stderr } = await run(...MAIL, '--subject', 'Later', '--text', 'x', '--schedule', at, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ status: 'scheduled', scheduled_at: at })
    expect(stderr).toStartWith('No server is running on this data directory.')
  })

  test.each([
    [['--header', 'X-A: 1', '--header', 'x-a: 2'], 'headers.x-a must appear only once'],
    [['--attach', '/no/such/file'], 'attach: /no/such/file: no such file or folder'],
    [['--attach', 'http://example.net/a'], /^attachments\[0\]\.url is not accepted: the URL must start with https/],
    [['--schedule', 'tomorrow'], /^scheduled_at must be an ISO 8601 time/],
    [['--text-file', 'x'], "error: option '--text <text>' cannot be used with option '--text-file <file>'"],
  ] as const)('send %j is refused with its reason', async (options, line) => {
    await expectRefused(2, line, ...MAIL, '--subject', 'x', '--text', 'x', ...options)
  })

  test('templates are created from files, changed, rendered, sent and deleted', async () => {
    expect(await text('template', 'list')).toBe('no templates yet\n')
    const frame = file('frame.html', '<main>{{ content }}</main>')
    await text('template', 'create', '--name', 'Frame', '--alias', 'frame', '--kind', 'layout', '--html-file', frame)
    const greeting = ['--html-file', file('hi.html', '<p>Hi {{ name }}</p>')]
    const made = await json(
      ...['template', 'create', '--name', 'Welcome', '--alias', 'welcome', '--subject', 'Hello {{ name }}'],
      ...[...greeting, '--text-file', file('hi.txt', 'Hi {{ name }}, {{ count }}'), '--layout', 'frame'],
      ...['--sample', file('sample.json', '{"name": "Ann"}')],
    )
    expect(made).toMatchObject({ kind: 'message', version: 1, layout: 'frame', sample: { name: 'Ann' } })

    // A change of one text of a language keeps its others.
    const german = ['template', 'update', 'welcome', '--locale', 'de']
    await text(...german, '--subject', 'Hallo {{ name }}', '--html-file', file('de.html', '<p>Hallo {{ name }}</p>'))
    const { version, locales } = await json(...german.with(-1, 'DE'), '--text-file', file('de.txt', 'Hallo {{ name }}'))
    expect([version, locales]).toMatchObject([
      3,
      { de: { subject: 'Hallo {{ name }}', html: '<p>Hallo {{ name }}</p>', text: 'Hallo {{ name }}' } },
    ])
    const values = ['--variables', file('values.json', '{"name": "Ann", "count": 2}'), '--variable', 'name=Bob=B']
    expect(await json('template', 'render', 'welcome', ...values)).toEqual({
      subject: 'Hello Bob=B',
      html: '<main><p>Hi Bob=B</p></main>',
      text: 'Hi Bob=B, 2',
    })
    expect(await text('template', 'render', 'welcome', '--locale', 'de-AT', '--variable', 'name=Ann')).toBe(
      'Subject: Hallo Ann\n\nText:\nHallo Ann\n\nHTML:\n<main><p>Hallo Ann</p></main>\n',
    )
    filled = await json(...MAIL, '--template', 'welcome', ...values)
    expect(filled.status).toBe('delivered')
    await expectRefused(
      1,
      'variables: variable count is missing and has no default, in the template’s text',
      ...[...MAIL, '--template', 'welcome', '--variable', 'name=Ann'],
    )

    const mjml = '<mjml><mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section></mj-body></mjml>'
    await text(
      ...['template', 'update', 'welcome', '--mjml-file', file('hi.mjml', mjml), '--text-file', '', '--layout', ''],
      ...['--remove-locale', 'de', '--name', 'Hello'],
    )
    expect(await json('template', 'show', 'welcome')).toMatchObject({
      name: 'Hello',
      mjml,
      text: null,
      layout: null,
      locales: {},
    })
    expect(await text('template', 'show', made.id, '--version', '2')).toMatch(
      /\n {2}version {4}2\n {2}layout {5}frame\n {2}languages {2}de\n {2}variables {2}name, count\n/,
    )
    const versions = (await text('template', 'versions', 'welcome')).trimEnd().split('\n')
    expect(versions.map((line) => line.split(' ', 1)[0])).toEqual(['VERSION', '4', '3', '2', '1'])
    expect(versions[3]).toMatch(/^2 +\S+Z +name, count +Hello \{\{ name \}\}$/)
    expect(await text('template', 'restore', 'welcome', '2')).toBe(`welcome is at version 5 (${made.id})\n`)
    const [second, restored] = [
      await json('template', 'show', 'welcome', '--version', '2'),
      await json('template', 'show', 'welcome'),
    ]
    for (const key of ['subject', 'html', 'mjml', 'text', 'layout', 'locales', 'variables']) {
      expect([key, restored[key]]).toEqual([key, second[key]])
    }
    expect(await text('template', 'restore', made.id, '4')).toContain('version 6')
    expect(await json('template', 'show', 'welcome')).toMatchObject({ mjml, text: null, layout: null, locales: {} })
    await expectRefused(1, 'This template has no such version.', 'template', 'restore', 'welcome', '9')
    await expectRefused(2, /^version must be /, 'template', 'restore', 'welcome', 'two')

    expect(await text('template', 'list', '--kind', 'layout')).toMatch(
      /^ID .+ NAME\ntpl_\w{26} +frame +layout +1 +Frame\n$/,
    )
    expect(await text('template', 'delete', 'welcome')).toBe(`deleted welcome (${made.id})\n`)
    await expectRefused(1, 'No such template. Check the ID.', 'template', 'show', 'welcome')
  })

  test('an address is suppressed for all domains or for one', async () => {
    expect(await text('suppression', 'add', 'Zoe@Example.net')).toMatch(/^suppressed \S+ \(sup_\w{26}\)\n$/)
    await expectRefused(1, 'email: This address is already suppressed.', 'suppression', 'add', 'zoe@example.net')
    const one = await json('suppression', 'add', 'yan@example.net', '--domain', 'example.com', '--reason', 'complaint')
    expect(one).toMatchObject({ reason: 'complaint', domain_id: expect.stringMatching(/^dom_/) })
    await expectRefused(2, 'email must be an email address', 'suppression', 'add', 'nobody')
    const sent = await json(
      'send',
      '--mode',
      'test',
      ...['--from', 'a@example.com', '--to', 'zoe@example.net'],
      '--text',
      'x',
      '--subject',
      'x',
    )
    expect(sent.status).toBe('suppressed')
  })

  test('headers of webhooks and routes come from files or options, and only their names are printed', async () => {
    const secret = file('headers', 'X-Api-Key: key of the gateway\r\n\nAuthorization: Bearer a:b\n')
    const made = await run(
      ...['webhook', 'create', '--url', 'https://hooks.example.com/in', '--headers', secret, '--header', 'X-C: c'],
      '--json',
    )
    const { id, header_names } = JSON.parse(made.stdout)
    expect(header_names).toEqual(['X-Api-Key', 'Authorization', 'X-C'])
    expect(await text('webhook', 'show', id)).toContain('\n  headers       X-Api-Key, Authorization, X-C\n')
    expect(await text('webhook', 'update', id, '--url', 'https://hooks.example.com/other')).toContain('X-Api-Key')
    expect((await json('webhook', 'update', id, '--header', 'X-D: d')).header_names).toEqual(['X-D'])
    expect((await json('webhook', 'update', id, '--no-headers')).header_names).toEqual([])
    await expectRefused(2, 'no change given. See --help', 'webhook', 'update', id)
    const wrong = file('wrong', 'key of the gateway\n')
    await expectRefused(
      2,
      `headers: expected "Name: value" in each line of ${wrong}`,
      'webhook',
      'update',
      id,
      '--headers',
      wrong,
    )
    await expectRefused(2, /^headers\.Host is a header that/, 'webhook', 'update', id, '--header', 'Host: a')
    await text('webhook', 'delete', id)

    const route = ['--name', 'gateway', '--catch-all', '--webhook', 'https://hooks.example.com/in']
    const { id: routeId, action } = await json('route', 'create', ...route, '--headers', secret)
    expect(action.config.header_names).toEqual(['X-Api-Key', 'Authorization'])
    const shown = await text('route', 'show', routeId)
    expect(shown).toContain('https://hooks.example.com/in (headers X-Api-Key, Authorization)')
    const moved = await json('route', 'update', routeId, '--webhook', 'https://elsewhere.example/')
    expect(moved.action.config.header_names).toEqual([])
    await expectRefused(2, 'headers: need --webhook', 'route', 'update', routeId, '--headers', secret)
    await text('route', 'delete', routeId)
    expect(`${made.stdout}${made.stderr}${shown}`).not.toMatch(/key of|a:b/)
  })

  test('inbound routes are created, changed and deleted', async () => {
    expect(await text('route', 'list')).toBe('no routes yet\n')
    const create = ['route', 'create', '--name', 'help']
    const action = ['--webhook', 'https://hooks.example.com/in', '--include-attachments']
    expect(await text(...create, '--address', 'help@example.com', ...action, '--priority', '-5')).toMatch(
      /^rte_\w{26} is enabled {3}help\n {2}mail to +help@example\.com\n {2}action +https:\S+ \(with attachments\)\n.*\n.*-5\n\nwhsec_\S+\n\nStore this secret now/,
    )
    const all = await json(...create, '--catch-all', '--forward-to', 'a@example.net', '--forward-to', 'b@example.net')
    expect(all).toMatchObject({ match: { type: 'catch_all' }, secret: expect.stringMatching(/^whsec_/) })
    const changed = await json(
      'route',
      'update',
      all.id,
      '--domain',
      'example.com',
      '--store',
      '--disable',
      '--authentication',
      'dmarc',
    )
    expect(changed).toMatchObject({
      match: { type: 'domain', value: 'example.com' },
      enabled: false,
      authentication: 'dmarc',
    })
    expect(await json('route', 'update', all.id, '--enable')).toEqual({ ...changed, enabled: true })
    expect((await text('route', 'list')).split('\n')[1]).toMatch(
      / enabled +0 +example\.com \(all addresses\) +store +help$/,
    )
    expect(await text('route', 'test', all.id, 'anyone@example.com')).toMatch(
      /^no route: example\.com is pending, not verified/,
    )
    expect(await json('route', 'test', all.id, 'anyone@example.net')).toMatchObject({ taken_by: null, takes: false })
    await expectRefused(2, /^to must be /, 'route', 'test', all.id, 'nobody')
    await expectRefused(2, 'no change given. See --help', 'route', 'update', all.id)
    await expectRefused(2, /^match: missing\. Set it with --address/, ...create, '--store')
    await expectRefused(2, 'action: only one can be set', ...create, '--catch-all', '--store', ...action)
    await expectRefused(2, /is not a domain of this organization$/, ...create, '--domain', 'example.net', '--store')
    expect(await json('route', 'delete', all.id)).toEqual({ id: all.id, deleted: true })
    await expectRefused(1, 'No such inbound route. Check the ID.', 'route', 'show', all.id)
  })

  test('a route leaves out the fields about replies', async () => {
    const action = ['--webhook', 'https://hooks.example.com/in', '--no-replies']
    const { id } = await json('route', 'create', '--name', 'desk', '--address', 'desk@example.com', ...action)
    expect(await text('route', 'show', id)).toContain('https://hooks.example.com/in (without replies)\n')
    const moved = await json('route', 'update', id, '--webhook', 'https://hooks.example.com/all')
    expect(moved.action.config.replies).toBe(true)
    await expectRefused(2, 'no-replies: needs --webhook', 'route', 'update', id, '--no-replies')
    await text('route', 'delete', id)
  })

  test('statistics and single events are shown', async () => {
    const [head, row, total, , rates] = (await text('stats', '--mode', 'test', '--interval', 'month')).split('\n')
    expect(head).toMatch(/^MONTH +ACCEPTED +DELIVERED +DEFERRED +HARD BOUNCED /)
    expect(row).toMatch(/^\d{4}-\d\d +6 +4 +0 +0 +0 +1 /)
    expect(total).toMatch(/^total +6 +4 /)
    expect(rates).toStartWith('delivery rate 100.00 %, bounce rate 0.00 %')
    expect(await text('stats', '--domain', 'example.com')).toBe('no mail in this time\n')
    const [heading, ...groups] = (await text('stats', '--mode', 'test', '--group-by', 'stream')).split('\n')
    expect(heading).toMatch(/^STREAM +ACCEPTED +DELIVERED /)
    expect(groups.slice(0, 2).join()).toMatch(/^transactional +6 +4 [ \d]+,total +6 +4 /)
    const byTag = await json('stats', '--mode', 'test', '--group-by', 'tag')
    expect(byTag.groups).toContainEqual(expect.objectContaining({ key: 'paid', name: 'paid', accepted: 3 }))
    const { totals } = await json('stats', '--mode', 'test', '--tag', 'paid')
    expect(totals).toMatchObject({ accepted: 3, delivered: 3 })
    await expectRefused(2, 'to must be later than from', 'stats', '--from', '2026-11-02', '--to', '2026-11-01')

    const [event] = (await json('event', 'list', '--message', whole.id)).data
    expect(await json('event', 'show', event.id)).toEqual(event)
    expect(await text('event', 'show', event.id)).toStartWith(
      `${event.id} is message.delivered at ${event.timestamp}\n`,
    )
    await expectRefused(
      1,
      'event: no event evt_x. List recent events with: postrider event list',
      'event',
      'show',
      'evt_x',
    )
  })

  test('every command works beside the running server, which serves what they made', async () => {
    const { key } = await json('key', 'create', '--domain', 'example.com', '--permission', 'read', '--mode', 'test')
    const server = await start('serve', '--config', place.file)
    try {
      const api = `http://${JSON.parse(await server.line).http}`
      const get = async (path: string) =>
        (await fetch(`${api}${path}`, { headers: { authorization: `Bearer ${key}` } })).json()
      const { attachments, text: body } = (await get(`/v1/messages/${whole.id}/content`)) as Json
      expect(body).toBe('Thank you.')
      expect(attachments).toMatchObject([
        { filename: 'note.txt', content_type: 'text/plain' },
        { filename: 'bill.pdf', content_type: 'application/pdf' },
      ])
      expect(((await get(`/v1/messages/${filled.id}/content`)) as Json).text).toBe('Hi Bob=B, 2')

      await text('suppression', 'add', 'xi@example.net')
      await text('route', 'create', '--name', 'new', '--catch-all', '--store')
      await text(
        'template',
        'create',
        '--name',
        'New',
        '--alias',
        'new',
        '--subject',
        'New',
        '--text-file',
        file('new.txt', 'New'),
      )
      const { id } = await json(...MAIL, '--template', 'new')
      expect(((await get(`/v1/messages/${id}/content`)) as Json).text).toBe('New')
      expect((await json('stats', '--mode', 'test')).totals.delivered).toBe(5)
    } finally {
      server.kill('SIGTERM')
      expect((await server.ended).code).toBe(0)
    }
    const actions = new Set((await json('audit', '--limit', '100')).data.map((each: Json) => each.action))
    for (const action of ['templates_create', 'templates_update', 'suppressions_create', 'inbound_routes_update'])
      expect(actions).toContain(action)
  })
})
