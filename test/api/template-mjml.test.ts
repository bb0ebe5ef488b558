import { afterAll, beforeAll, expect, test } from 'bun:test'
import { PoisonousJob } from '../../src/os/thread-pool.ts'
import { createParsing } from '../../src/server/parsing/parsing.ts'
import { MAIL, openMessageApi } from './messages-setup.ts'

let server: Awaited<ReturnType<typeof openMessageApi>>
let key: string
beforeAll(async () => {
  server = await openMessageApi()
  key = await server.mintKey('example.com', 'live', ['send', 'read', 'manage'])
})
afterAll(() => server.close())

const ask = (method: string, path: string, body?: unknown) => server.ask(method, path, body, { key })
const create = (body: Record<string, unknown>) => ask('POST', '/v1/templates', { name: 'n', ...body })
const change = (alias: string, body: Record<string, unknown>) => ask('PATCH', `/v1/templates/${alias}`, body)
const mjmlOf = (text: string) =>
  `<mjml><mj-body><mj-section><mj-column>\n<mj-text>${text}</mj-text>\n</mj-column></mj-section></mj-body></mjml>`

test('a template in MJML keeps its source, and messages have its html', async () => {
  const mjml = mjmlOf('Hello {{ name }}')
  const locales = { de: { subject: 'Hallo', mjml: mjmlOf('Hallo {{ name }}') }, fr: { text: 'Salut' } }
  const { status, body } = await create({ alias: 'kept', subject: 'Hi', mjml, locales })
  expect([status, body.mjml, body.variables]).toEqual([201, mjml, ['name']])
  expect(body.html).toMatch(/^<!doctype html>[\s\S]*Hello {{ name }}/)
  expect(body.locales.de).toMatchObject({ mjml: locales.de.mjml, variables: ['name'] })
  expect(body.locales.de.html).toContain('Hallo {{ name }}')
  expect(body.locales.fr).toMatchObject({ mjml: null, html: null })
  expect((await ask('GET', '/v1/templates/kept')).body).toEqual(body)

  const variables = { name: '<Ann>' }
  const sent = await server.send({ from: MAIL.from, to: MAIL.to, template_id: 'kept', variables, locale: 'de' })
  expect(sent.status).toBe(202)
  const content = await server.ask('GET', `/v1/messages/${sent.body.id}/content`)
  expect(content.body.html).toContain('Hallo &lt;Ann&gt;')
  const rendered = await ask('POST', '/v1/templates/kept/render', { variables })
  expect(rendered.body.html).toContain('Hello &lt;Ann&gt;')
})

test('new MJML is a new version; the same again, html or null replace it as the field says', async () => {
  const mjml = mjmlOf('<a href="#">One</a>')
  await create({ alias: 'changed', subject: 'Hi', mjml, locales: { de: { mjml } } })
  const first = (await ask('GET', '/v1/templates/changed')).body
  const same = await change('changed', { mjml, locales: { de: { mjml } } })
  expect(same.body).toMatchObject({ version: 1, html: first.html })
  expect((await change('changed', { subject: 'Ho' })).body).toMatchObject({ version: 2, mjml, html: first.html })
  const second = (await change('changed', { mjml: mjmlOf('Two') })).body
  expect([second.version, second.mjml]).toEqual([3, mjmlOf('Two')])
  expect(second.html).toContain('Two')
  expect((await ask('GET', '/v1/templates/changed?version=1')).body).toMatchObject({ mjml, html: first.html })
  expect((await change('changed', { mjml: null })).body).toMatchObject({ version: 4, mjml: null, html: second.html })
  await change('changed', { mjml })
  expect((await change('changed', { html: '<p>x</p>' })).body).toMatchObject({
    version: 6,
    mjml: null,
    html: '<p>x</p>',
  })
  expect((await change('changed', { mjml, html: null })).body).toMatchObject({ version: 7, mjml, html: first.html })
})

test.each([
  ['with html', { html: '<p>x</p>', mjml: mjmlOf('x') }, 'mjml', 'must be absent or null when html is present'],
  [
    'with html in a locale',
    { text: 'x', locales: { de: { html: 'x', mjml: 'x' } } },
    'locales.de.mjml',
    'must be absent',
  ],
  ['that is not MJML', { mjml: '<p>x</p>' }, 'mjml', 'mjml is not valid MJML at line 1: <p> is HTML'],
  [
    'that is not MJML in a locale',
    { text: 'x', locales: { de: { mjml: 'x' } } },
    'locales.de.mjml',
    'at line 1: text must',
  ],
  ['of a partial', { kind: 'partial', mjml: mjmlOf('x') }, 'mjml', 'must be null for a partial'],
  ['in a layout', { layout: 'frame', mjml: mjmlOf('x') }, 'mjml', 'must be null with a layout'],
  ['of a layout without content', { kind: 'layout', mjml: mjmlOf('x') }, 'html', '{{ content }} exactly once'],
])('MJML %s is refused', async (_, fields, field, message) => {
  const { status, body } = await create(fields)
  expect([status, body.error.code, body.error.errors[0].field]).toEqual([400, 'validation_error', field])
  expect(body.error.errors[0].message).toContain(message)
})

test('a layout in MJML is around html', async () => {
  await create({ alias: 'mjml-frame', kind: 'layout', mjml: mjmlOf('{{ content }}') })
  await create({ alias: 'framed', subject: 'Hi', layout: 'mjml-frame', html: '<p>{{ name }}</p>' })
  const { body } = await ask('POST', '/v1/templates/framed/render', { variables: { name: 'Ann' } })
  expect(body.html).toMatch(/^<!doctype html>[\s\S]*<p>Ann<\/p>/)
})

test('a preview compiles MJML, and names the line of a fault', async () => {
  const preview = (mjml: string) => ask('POST', '/v1/templates/preview', { mjml })
  const good = await preview(mjmlOf('Hello {{ name }}'))
  expect(good.body).toMatchObject({ variables: ['name'], missing: ['name'] })
  expect(good.body.html).toContain('Hello [name]')
  const bad = await preview(mjmlOf('x').replace('\n</mj-column>', '\n\n<mj-foo/></mj-column>'))
  expect(bad.body.error.details).toMatchObject({ line: 4, column: null })
})

test('MJML that occupies a thread too long is refused', async () => {
  const { templateEngine } = createParsing(() => Promise.reject(new PoisonousJob('over_budget')))
  const refused = templateEngine.compile('<mjml></mjml>', '', 'org_1')
  await expect(refused).rejects.toMatchObject({ reason: 'template_error', details: { reason: 'took_too_long' } })
})
