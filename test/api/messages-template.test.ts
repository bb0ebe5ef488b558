import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Template } from '../../src/model/template.ts'
import { parseTemplateTexts, type TemplateTexts, variablesIn } from '../../src/sending/submission/render.ts'
import { createStoredTemplates } from '../../src/sending/submission/templates.ts'
import { parsingHere } from '../../src/server/parsing/parsing.ts'
import { MAIL, openMessageApi, START } from './messages-setup.ts'

let server: Awaited<ReturnType<typeof openMessageApi>>
let order: Template
beforeAll(async () => {
  server = await openMessageApi()
  order = await store('order', {
    subject: 'Order {{ order.id }}',
    html: '<p>{{ name }}: {{ order.id }}</p>',
    text: '{{ name }}: {{ order.id }}',
  })
})
afterAll(() => server.close())

const { from, to } = MAIL
const VARIABLES = { name: '<Ann>', order: { id: 42 } }

async function store(
  alias: string,
  texts: Partial<TemplateTexts>,
  organizationId = server.organizationId,
  mode: Template['mode'] = 'live',
) {
  const whole = { subject: null, html: null, text: null, ...texts }
  const template: Template = {
    id: server.mintId('tpl'),
    organizationId,
    mode,
    kind: 'message',
    alias,
    name: alias,
    sample: {},
    ...whole,
    variables: variablesIn(parseTemplateTexts(whole)),
    layout: null,
    mjml: null,
    uses: [],
    locales: {},
    version: 1,
    createdAt: START,
    updatedAt: START,
  }
  await server.store.templates.create(template)
  return template
}

async function contentOf(id: string) {
  const { body } = await server.ask('GET', `/v1/messages/${id}/content`)
  return { subject: body.subject, html: body.html, text: body.text }
}

describe('a message from a template', () => {
  test.each(['id', 'alias'] as const)('is selected by %s and has the rendered content', async (by) => {
    const answer = await server.send({ from, to, template_id: order[by], variables: VARIABLES })
    expect(answer.status).toBe(202)
    expect(await contentOf(answer.body.id)).toEqual({
      subject: 'Order 42',
      html: '<p>&lt;Ann&gt;: 42</p>',
      text: '<Ann>: 42',
    })
    const { body: record } = await server.ask('GET', `/v1/messages/${answer.body.id}`)
    expect(record).toMatchObject({ template_id: order.id, subject: 'Order 42' })
  })

  test('may have its own subject, which is not a template', async () => {
    const subject = '{{ not.filled }} {%'
    const { body } = await server.send({ from, to, subject, template_id: 'order', variables: VARIABLES })
    expect((await contentOf(body.id)).subject).toBe(subject)
  })

  test('needs a subject when the template has none', async () => {
    await store('untitled', { text: 'Hi' })
    const bare = await server.send({ from, to, template_id: 'untitled' })
    expect([bare.status, bare.body.error.code, bare.body.error.field]).toEqual([400, 'validation_error', 'subject'])
    expect((await server.send({ from, to, subject: 'S', template_id: 'untitled' })).status).toBe(202)
  })

  test('gets a text part from html like any other', async () => {
    await store('html-only', { subject: 'S', html: '<p>One &amp; {{ n }}</p>' })
    const { body } = await server.send({ from, to, template_id: 'html-only', variables: { n: '<2>' } })
    const raw = await server.ask('GET', `/v1/messages/${body.id}/content?part=raw`)
    expect(raw.text).toContain('One & <2>')
  })

  test('keeps the version that was current when it was sent', async () => {
    const template = await store('versioned', { subject: 'One', text: 'One' })
    const first = await server.send({ from, to, template_id: 'versioned' })
    const content = { subject: 'Two {{ n }}', html: null, text: 'Two', variables: ['n'], ...NO_PARTS }
    await server.store.templates.update(template.id, 1, { content }, START)
    const second = await server.send({ from, to, template_id: 'versioned', variables: { n: 2 } })
    expect((await contentOf(first.body.id)).subject).toBe('One')
    expect((await contentOf(second.body.id)).subject).toBe('Two 2')
  })

  test('is sent again unchanged, though the template was deleted', async () => {
    const template = await store('gone', { subject: 'Was {{ n }}', text: 'T' })
    const first = await server.send({ from, to, template_id: 'gone', variables: { n: 1 } })
    await server.store.templates.remove(template.id)
    const again = await server.ask('POST', `/v1/messages/${first.body.id}/resend`)
    expect(again.status).toBe(202)
    expect(await contentOf(again.body.id)).toEqual(await contentOf(first.body.id))
    const { body: record } = await server.ask('GET', `/v1/messages/${again.body.id}`)
    expect(record.template_id).toBe(template.id)
    const listed = await server.ask('GET', `/v1/messages?template_id=${template.id}`)
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([again.body.id, first.body.id])
    expect((await server.send({ from, to, template_id: 'gone' })).body.error.field).toBe('template_id')
  })

  // threat: key-beyond-its-mode
  test('of a test key is refused for a live message, by alias and by id', async () => {
    const texts = { subject: 'Reset', html: '<p>made by a test key</p>' }
    const template = await store('reset', texts, server.organizationId, 'test')
    for (const template_id of ['reset', template.id]) {
      const live = await server.send({ from, to, template_id })
      expect([live.status, live.body.error.field]).toEqual([400, 'template_id'])
      expect((await server.send({ from, to, template_id }, { key: server.keys.test })).status).toBe(202)
    }
  })

  test('works in the sandbox too', async () => {
    const mail = { from, to: 'bounce@x.example', template_id: 'order', variables: VARIABLES }
    const { status, body } = await server.send(mail, { key: server.keys.test })
    expect([status, body.status]).toEqual([202, 'bounced'])
  })
})

describe('refused:', () => {
  const bad: [name: string, change: object, field: string][] = [
    ['a template that is unknown', { template_id: 'nobody' }, 'template_id'],
    ['an id that is unknown', { template_id: `tpl_${'0'.repeat(26)}` }, 'template_id'],
    ['neither an id nor an alias', { template_id: 'Not one' }, 'template_id'],
    ['html beside it', { html: '<p>' }, 'template_id'],
    ['text beside it', { text: 'x' }, 'template_id'],
    ['variables without it', { template_id: null, variables: {}, text: 'x', subject: 'S' }, 'variables'],
    ['nothing at all', { template_id: null, variables: null, subject: 'S' }, 'html'],
    ['no subject and no template', { template_id: null, variables: null, text: 'x' }, 'subject'],
    ['a list of variables', { variables: [1] }, 'variables'],
    ['variables past 64 KiB', { variables: { a: 'x'.repeat(65_530) } }, 'variables'],
  ]
  test.each(bad)('%s', async (_, change, field) => {
    const answer = await server.send({ from, to, template_id: 'order', variables: VARIABLES, ...change })
    expect([answer.status, answer.body.error.code]).toEqual([400, 'validation_error'])
    expect(answer.body.error.field).toBe(field)
  })

  test('a template of another organization by its id; its alias is unknown', async () => {
    const organization = await server.store.organizations.find('other')
    const theirs = await store('theirs', { subject: 'S', text: 'secret' }, organization!.id)
    const answer = await server.send({ from, to, template_id: theirs.id })
    expect([answer.status, answer.body.error.code, answer.body.error.field]).toEqual([403, 'forbidden', 'template_id'])
    expect((await server.send({ from, to, template_id: 'theirs' })).status).toBe(400)
    expect((await server.ask('GET', `/v1/messages?template_id=${theirs.id}`)).status).toBe(403)
  })

  test('a missing variable, by its name, and nothing is stored', async () => {
    const before = await server.ask('GET', '/v1/messages?template_id=order&limit=100')
    const answer = await server.send({ from, to, template_id: 'order', variables: { name: 'A', order: {} } })
    expect([answer.status, answer.body.error.code, answer.body.error.field]).toEqual([
      422,
      'template_error',
      'variables',
    ])
    expect(answer.body.error.details).toMatchObject({ variable: 'order.id', field: 'subject' })
    const after = await server.ask('GET', '/v1/messages?template_id=order&limit=100')
    expect(after.body.data.length).toBe(before.body.data.length)
  })

  test('403 for the sender has precedence over 422 for the template', async () => {
    const answer = await server.send({ from: 'a@else.example', to, template_id: 'order' })
    expect([answer.status, answer.body.error.field]).toEqual([403, 'from'])
  })
})

test('in a batch each message has its own variables and its own result', async () => {
  const mail = (variables: object) => ({ from, to, template_id: 'order', variables })
  const messages = [mail({ name: 'A', order: { id: 1 } }), mail({}), mail({ name: 'C', order: { id: 3 } }), MAIL]
  const { status, body } = await server.ask('POST', '/v1/messages/batch', { messages })
  expect(status).toBe(202)
  expect(body.data[1].error).toMatchObject({ code: 'template_error', details: { variable: 'order' } })
  const subjects = [0, 2, 3].map(async (at) => (await contentOf(body.data[at].id)).subject)
  expect(await Promise.all(subjects)).toEqual(['Order 1', 'Order 3', 'Hello'])
})

test('the list finds messages of a template by id and by alias, and none for an unknown alias', async () => {
  const template = await store('listed', { subject: 'S', text: 'T' })
  const sent = [
    await server.send({ from, to, template_id: 'listed' }),
    await server.send({ from, to, template_id: template.id }),
  ]
  const ids = sent.map(({ body }) => body.id).reverse()
  for (const name of ['listed', template.id]) {
    const { body } = await server.ask('GET', `/v1/messages?template_id=${name}`)
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(ids)
  }
  expect((await server.ask('GET', '/v1/messages?template_id=nobody')).body.data).toEqual([])
})

test('a template can be rendered without sending', async () => {
  const use = { idOrAlias: 'order', variables: VARIABLES, locale: null }
  const sender = { organizationId: server.organizationId, mode: 'live' as const }
  expect(await server.submission.render(sender, use)).toMatchObject({ subject: 'Order 42' })
  await expect(server.submission.render(sender, { ...use, variables: {} })).rejects.toThrow(
    'variables order.id and name are missing',
  )
})

test('a version is read and parsed once for all messages that use it', async () => {
  const { templates } = server.store
  const template = await store('kept', { subject: 'S', html: '{{ n }}' })
  const read: number[] = []
  const counted = {
    ...templates,
    version: (id: string, number: number) => {
      read.push(number)
      return templates.version(id, number)
    },
  }
  const stored = createStoredTemplates({ ...parsingHere(), store: { templates: counted } })
  const user = { organizationId: server.organizationId, mode: 'live' as const }
  const fill = async (n: number) =>
    stored.fill(await stored.require(user, 'kept'), user, { variables: { n }, locale: null })
  for (const n of [1, 2, 3]) expect((await fill(n)).html).toBe(`${n}`)
  expect(read).toEqual([1])
  const content = { subject: 'S', html: 'v2 {{ n }}', text: null, variables: ['n'], ...NO_PARTS }
  await templates.update(template.id, 1, { content }, START)
  expect((await fill(4)).html).toBe('v2 4')
  expect(read).toEqual([1, 2])
})

const NO_PARTS = { mjml: null, layout: null, uses: [], locales: {} }
