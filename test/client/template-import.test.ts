import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestServer, type TestServer } from '../support/server.ts'
import { refusal, startHostile } from './hostile.ts'
import { buildProgram, type TemplateProgram } from './template-program.ts'

/** `postrider-templates import` from servers that page, authenticate and answer as the services' documentation says. */

const folder = mkdtempSync(join(tmpdir(), 'postrider-import-'))
let program: TemplateProgram
let postrider: TestServer
const KEY = 'key-of-the-service'
const HELLO = '11111111-aaaa-4bbb-8ccc-000000000001'
const CODE = '11111111-aaaa-4bbb-8ccc-000000000002'
const SHIPPED = 'd-0123456789abcdef0123456789abcdef'

type Answer = (url: URL) => unknown
const seen: string[] = []
let isBusy = true

/** Path → answer; null gives 404. */
const SERVICES: Record<string, { header: string; value: string; answer: Answer }> = {
  resend: { header: 'authorization', value: `Bearer ${KEY}`, answer: resendAnswer },
  postmark: { header: 'x-postmark-server-token', value: KEY, answer: postmarkAnswer },
  sendgrid: { header: 'authorization', value: `Bearer ${KEY}`, answer: sendgridAnswer },
  mailgun: { header: 'authorization', value: `Basic ${btoa(`api:${KEY}`)}`, answer: mailgunAnswer },
}

function resendAnswer({ pathname, searchParams }: URL): unknown {
  const head = (id: string, alias: string | null) => ({ id, name: `Name of ${id}`, alias, status: 'published' })
  const all = [head(HELLO, null), head(CODE, 'Sign_In.Code')]
  if (pathname === '/templates') {
    const isSecond = searchParams.get('after') === HELLO
    return { object: 'list', data: [all[Number(isSecond)]], has_more: !isSecond }
  }
  const variables = [{ key: 'NAME', type: 'string', fallback_value: 'friend' }]
  const found = all.find(({ id }) => pathname === `/templates/${id}`)
  return (
    found && {
      object: 'template',
      ...found,
      subject: 'Hi {{{NAME}}}',
      html: '<p>{{{NAME}}} {{{CODE}}}</p>',
      text: null,
      variables,
    }
  )
}

function postmarkAnswer({ pathname, searchParams }: URL): unknown {
  const none = { Subject: '', HtmlBody: '', TextBody: '', LayoutTemplate: null, TemplateType: 'Standard', Active: true }
  const all = [
    {
      ...none,
      TemplateId: 1,
      Name: 'Receipt',
      Alias: 'receipt',
      Subject: 'Order {{id}}',
      LayoutTemplate: 'frame',
      HtmlBody: '<ul>{{#each lines}}<li>{{name}}</li>{{/each}}</ul>',
    },
    { ...none, TemplateId: 2, Name: 'No alias', Alias: null, Subject: 'Hi', TextBody: 'Hi {{{name}}}' },
    {
      ...none,
      TemplateId: 3,
      Name: 'Frame',
      Alias: 'frame',
      TemplateType: 'Layout',
      HtmlBody: '<main>{{{@content}}}</main>',
    },
  ]
  if (pathname === '/templates') {
    const offset = Number(searchParams.get('offset'))
    const heads = all.map(({ TemplateId, Name, Alias, TemplateType }) => ({
      TemplateId,
      Name,
      Alias,
      TemplateType,
      Active: true,
    }))
    return { TotalCount: 3, Templates: heads.slice(offset, offset + 2) }
  }
  return all.find(({ TemplateId }) => pathname === `/templates/${TemplateId}`)
}

function sendgridAnswer({ pathname, searchParams }: URL): unknown {
  const old = { id: 'v1', active: 0, name: 'old', subject: 'Old', html_content: '<p>old</p>', plain_content: '' }
  const active = {
    ...old,
    id: 'v2',
    active: 1,
    subject: 'Parcel {{id}}',
    html_content: '<p>{{#if late}}Late{{else}}Soon{{/if}}</p>',
    test_data: '{"late":true}',
  }
  const bad = { ...active, html_content: '<p>\n{{#or a b}}x{{/or}} {{> footer}}</p>' }
  const all = [
    { id: SHIPPED, name: 'Shipped', generation: 'dynamic', versions: [old, active] },
    { id: SHIPPED.replace('0', '9'), name: 'Bad', generation: 'dynamic', versions: [bad] },
  ]
  if (pathname !== '/v3/templates') return all.find(({ id }) => pathname === `/v3/templates/${id}`)
  const isSecond = searchParams.get('page_token') === 'next'
  const next = 'https://elsewhere.example/v3/templates?page_token=next' // the key must not go there
  const heads = all.map(({ versions: _, ...head }) => head)
  return { result: [heads[Number(isSecond)]], _metadata: { count: 2, ...(!isSecond && { next }) } }
}

function mailgunAnswer({ pathname, searchParams }: URL): unknown {
  const version = { tag: 'initial', engine: 'handlebars', active: true, template: '<p>{{#if late}}Late{{/if}}</p>' }
  const named = (name: string) => ({ name, description: '', createdAt: 'Thu, 26 Nov 2026 09:00:00 UTC' })
  if (pathname === '/templates') {
    const isSecond = searchParams.get('p') === 'parcel.sent'
    const next = 'https://elsewhere.example/v3/x/templates?page=next&p=parcel.sent&limit=100' // the key must not go there
    return { items: isSecond ? [named('go')] : [named('parcel.sent')], paging: isSecond ? {} : { next } }
  }
  if (searchParams.get('active') !== 'yes') return null
  if (pathname === '/templates/parcel.sent')
    return { template: { ...named('parcel.sent'), version: { ...version, headers: { Subject: 'Parcel {{id}}' } } } }
  return { template: { ...named('go'), version: { ...version, engine: 'go', template: '<p>{{.Name}}</p>' } } }
}

let server: ReturnType<typeof Bun.serve>
beforeAll(async () => {
  program = await buildProgram()
  postrider = await startTestServer({ remote: { port: 9, open: () => 0 } })
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const url = new URL(request.url)
      const [, service = '', ...rest] = url.pathname.split('/')
      const { header, value, answer } = SERVICES[service]!
      seen.push(service)
      if (request.headers.get(header) !== value) return Response.json({ message: 'no' }, { status: 401 })
      if (isBusy) {
        isBusy = false
        return new Response('', { status: 429, headers: { 'retry-after': '0' } })
      }
      url.pathname = `/${rest.join('/')}`
      const found = answer(url)
      return found ? Response.json(found) : new Response('', { status: 404 })
    },
  })
})
afterAll(async () => {
  await server.stop(true)
  await postrider.close()
  program.remove()
  rmSync(folder, { recursive: true, force: true })
})

const NAMES: Record<string, string> = {
  resend: 'RESEND_API_KEY',
  postmark: 'POSTMARK_SERVER_TOKEN',
  sendgrid: 'SENDGRID_API_KEY',
  mailgun: 'MAILGUN_API_KEY',
}
const access = () => ({
  POSTRIDER_URL: `http://${postrider.running().listening.http}`,
  POSTRIDER_API_KEY: postrider.keys.live,
})
function importFrom(service: string, key: string, ...more: string[]) {
  const url = ['--url', `http://127.0.0.1:${server.port}/${service}`]
  return program.run({ ...access(), [NAMES[service]!]: key }, 'import', '--from', service, ...url, ...more)
}

describe('postrider-templates import', () => {
  test('reads Resend page by page; the alias is the name that programs use', async () => {
    const result = await importFrom('resend', KEY)
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout).toBe(
      `${HELLO} (Name of ${HELLO}): imported\nsign-in-code (Name of ${CODE}): imported\n  its alias was Sign_In.Code\n` +
        '2 imported, 0 already there, 0 not imported\n',
    )
    expect(isBusy).toBe(false) // the first request was repeated
    const again = await importFrom('resend', KEY, '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({ imported: 0, already_there: 2, not_imported: 0 })
  })

  test('reads Postmark with its layouts first; a dry run writes nothing', async () => {
    const dry = JSON.parse((await importFrom('postmark', KEY, '--json', '--dry-run')).stdout)
    expect(dry).toMatchObject({ imported: 3, dry_run: true })
    const { stdout, code, stderr } = await importFrom('postmark', KEY, '--json')
    expect([code, stderr]).toEqual([0, ''])
    const { data, ...counts } = JSON.parse(stdout)
    expect(counts).toEqual({ imported: 3, already_there: 0, not_imported: 0, dry_run: false })
    expect(data.map(({ alias }: { alias: string }) => alias)).toEqual(['frame', 'receipt', '2'])
  })

  test('reads the active versions of SendGrid, and reports what does not translate', async () => {
    const result = await importFrom('sendgrid', KEY)
    expect(result.code).toBe(1)
    expect(result.stdout).toContain(`${SHIPPED} (Shipped): imported`)
    expect(result.stdout).toContain('1 imported, 0 already there, 1 not imported')
    expect(
      result.stderr
        .trim()
        .split('\n')
        .map((line) => line.replace(/^.*: html/, 'html')),
    ).toEqual([
      'html, line 2: the helper or has no equivalent',
      'html, line 2: the partial footer is not in the export',
    ])
    const before = seen.length
    const wrong = await importFrom('sendgrid', 'other')
    expect(wrong).toMatchObject({ code: 1, stdout: '' })
    expect(wrong.stderr).toMatch(/status 401\. Check SENDGRID_API_KEY/)
    expect(wrong.stderr).not.toContain('other')
    expect(seen.length).toBe(before + 1)
  })

  test('reads the active versions of a domain of Mailgun', async () => {
    const result = await importFrom('mailgun', KEY)
    expect(result.stdout).toBe(
      'parcel-sent (parcel.sent): imported\n  its alias was parcel.sent\ngo (go): not imported\n' +
        '1 imported, 0 already there, 1 not imported\n',
    )
    const { body } = await postrider.ask('GET', '/v1/templates/parcel-sent', undefined, {
      authorization: `Bearer ${postrider.keys.live}`,
    })
    expect(body.subject).toContain('Parcel {{ id')
    const unnamed = await program.run({ ...access(), MAILGUN_API_KEY: KEY }, 'import', '--from', 'mailgun')
    expect([unnamed.code, unnamed.stderr]).toEqual([
      2,
      expect.stringContaining('https://api.mailgun.net/v3/example.com'),
    ])
  })

  test('reads the answers of both versions of the API of SES, from a file only', async () => {
    const file = join(folder, 'ses.json')
    const one = { TemplateName: 'SesOne', TemplateContent: { Subject: 'S {{a}}', Text: 'T', Html: '<p>{{a}}</p>' } }
    const two = { Template: { TemplateName: 'ses-two', SubjectPart: 'S', HtmlPart: '<p>{{b}}</p>' } }
    writeFileSync(file, JSON.stringify([one, two]))
    const read = await program.run(access(), 'import', file, '--from', 'ses')
    expect(read.stdout).toBe(
      'sesone (SesOne): imported\n  its alias was SesOne\nses-two (ses-two): imported\n2 imported, 0 already there, 0 not imported\n',
    )
    const none = await program.run({ ...access(), AWS_ACCESS_KEY_ID: 'AKIA1' }, 'import', '--from', 'ses')
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('get-email-template')])
  })

  test('reads the folder of `postmark templates pull` and a JSON file', async () => {
    const pulledTo = join(folder, 'pulled')
    const write = (name: string, meta: object, html: string) => {
      mkdirSync(join(pulledTo, name), { recursive: true })
      writeFileSync(join(pulledTo, name, 'meta.json'), JSON.stringify(meta))
      writeFileSync(join(pulledTo, name, 'content.html'), html)
    }
    write(
      'hello',
      { Name: 'Hello', Alias: 'hello', Subject: 'Hi', LayoutTemplate: 'outer', TemplateType: 'Standard' },
      '<p>{{name}}</p>',
    )
    write('_layouts/outer', { Name: 'Outer', Alias: 'outer', TemplateType: 'Layout' }, '<b>{{{@content}}}</b>')
    const pulled = await program.run(access(), 'import', pulledTo, '--from', 'postmark', '--json')
    expect(JSON.parse(pulled.stdout)).toMatchObject({ imported: 2, data: [{ alias: 'outer' }, { alias: 'hello' }] })

    const file = join(folder, 'templates.json')
    writeFileSync(
      file,
      JSON.stringify([
        { id: 'd-1', name: 'One', versions: [{ active: 1, subject: 'S', html_content: '<p>{{a}}</p>' }] },
      ]),
    )
    const read = await program.run(access(), 'import', file, '--from', 'sendgrid')
    expect(read.stdout).toBe('d-1 (One): imported\n1 imported, 0 already there, 0 not imported\n')
    const none = await program.run(access(), 'import', '--from', 'sendgrid')
    expect([none.code, none.stderr]).toEqual([2, expect.stringMatching(/SENDGRID_API_KEY/)])
  })

  test.each([
    [400, 'validation_error'],
    [409, 'conflict'],
    [413, 'payload_too_large'],
    [422, 'template_error'],
  ])('a template that is refused with %i does not stop the others', async (status, code) => {
    const file = join(folder, 'refused.json')
    const versions = [{ active: 1, subject: 'S', html_content: 'x' }]
    const templates = ['d-1', 'd-2'].map((id) => ({ id, versions }))
    writeFileSync(file, JSON.stringify(templates))
    const missing = refusal(404, 'not_found')
    const created = { status: 201, body: '{"id":"tpl_1","version":1}' }
    const other = await startHostile(missing, refusal(status, code), missing, created)
    const env = { POSTRIDER_URL: other.url, POSTRIDER_API_KEY: 'svc_live_1' }
    const imported = await program.run(env, 'import', file, '--from', 'sendgrid')
    await other.stop()
    expect(imported).toEqual({
      code: 1,
      stdout: 'd-1 (d-1): not imported\nd-2 (d-2): imported\n1 imported, 0 already there, 1 not imported\n',
      stderr: `  d-1: ${code}!\n`,
    })
  })

  test('takes no other server for Postrider', async () => {
    const file = join(folder, 'elsewhere.json')
    writeFileSync(file, JSON.stringify([{ id: 'd-1', versions: [{ active: 1, subject: 'S', html_content: 'x' }] }]))
    const created = [refusal(404, 'not_found'), { status: 200, body: '[]' }]
    for (const moves of [[{ status: 200, body: '{}' }], created]) {
      const other = await startHostile(...moves)
      const env = { POSTRIDER_URL: other.url, POSTRIDER_API_KEY: 'svc_live_1' }
      const imported = await program.run(env, 'import', file, '--from', 'sendgrid')
      await other.stop()
      expect(imported).toEqual({
        code: 1,
        stdout: '',
        stderr: 'POSTRIDER_URL: not a Postrider server. Check the address.\n',
      })
    }
  })
})
