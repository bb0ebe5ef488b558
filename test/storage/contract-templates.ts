import { expect } from 'bun:test'
import type { Template } from '../../src/model/template.ts'
import type { Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import { found, idsByPage, ORGANIZATION, START } from './records.ts'

export function templatePromises(holds: Holds): void {
  holds('a template reads as it was written, by id and by alias', async (store, records) => {
    await found(store, records)
    const [named, bare] = [template(1), template(2, { alias: null, subject: null, html: null, variables: [] })]
    for (const each of [named, bare]) expect(await store.templates.create(each)).toBe('created')
    expect(await store.templates.get(named.id)).toEqual(named)
    expect(await store.templates.get(bare.id)).toEqual(bare)
    expect(await store.templates.findByAlias(ORGANIZATION, 'welcome')).toEqual(named)
    expect(await store.templates.findByAlias('org_b', 'welcome')).toBeNull()
    expect(await store.templates.get('tpl_none')).toBeNull()
  })

  holds(
    'an alias belongs to one template of an organization, and is free again when that is deleted',
    async (store, records) => {
      await found(store, records)
      const other = records.organization()
      await store.organizations.create(other)
      const [first, second] = [template(1), template(2)]
      const answers = await Promise.all([first, second].map((each) => store.templates.create(each)))
      expect(answers).toEqual(['created', 'conflict'])
      expect(await store.templates.get(second.id)).toBeNull()
      expect(await store.templates.create(template(3, { organizationId: other.id }))).toBe('created')
      expect(await store.templates.create(template(4, { alias: null }))).toBe('created')
      expect(await store.templates.create(template(5, { alias: null }))).toBe('created')
      expect((await store.templates.update(template(4).id, 1, { alias: 'welcome' }, START)).kind).toBe('conflict')
      expect((await store.templates.update(first.id, 1, { alias: 'welcome', name: 'Same' }, START)).kind).toBe(
        'updated',
      )
      await store.templates.remove(first.id)
      expect(await store.templates.findByAlias(ORGANIZATION, 'welcome')).toBeNull()
      expect((await store.templates.update(template(4).id, 1, { alias: 'welcome' }, START)).kind).toBe('updated')
    },
  )

  holds('other languages, layout and partials are content, and belong to a version', async (store, records) => {
    await found(store, records)
    const german = { subject: 'Hallo "{{ name }}"', html: '<p>Grüße</p>', mjml: null, text: null, variables: ['name'] }
    const first = template(1, { layout: 'frame', uses: ['footer'], locales: { 'de-AT': german } })
    await store.templates.create(first)
    expect(await store.templates.get(first.id)).toEqual(first)
    expect((await updated(store, first.id, 1, { content: first }, START + 1)).version).toBe(1)
    const content = { ...first, ...NO_PARTS, locales: { de: german } }
    const second = await updated(store, first.id, 1, { content }, START + 2)
    expect(second).toMatchObject({ version: 2, layout: null, uses: [], locales: { de: german } })
    expect(await store.templates.version(first.id, 1)).toMatchObject({ layout: 'frame', uses: ['footer'] })
    const [listed] = (await store.templates.list(ORGANIZATION, { limit: 1, after: null })).records
    expect(listed).not.toContainAnyKeys(['layout', 'locales', 'uses'])
  })

  holds(
    'MJML belongs to a version in each language, and a change of it alone is a new version',
    async (store, records) => {
      await found(store, records)
      const german = { subject: null, html: '<p>Hallo</p>', mjml: '<mjml>Hallo</mjml>', text: null, variables: [] }
      const first = template(1, { mjml: '<mjml>Hello</mjml>', locales: { de: german } })
      await store.templates.create(first)
      expect(await store.templates.get(first.id)).toEqual(first)
      expect((await updated(store, first.id, 1, { content: first }, START + 1)).version).toBe(1)
      const content = { ...first, mjml: null }
      expect(await updated(store, first.id, 1, { content }, START + 2)).toMatchObject({ version: 2, mjml: null })
      expect(await store.templates.version(first.id, 1)).toMatchObject({ mjml: first.mjml, locales: { de: german } })
      const [listed] = (await store.templates.list(ORGANIZATION, { limit: 1, after: null })).records
      expect(listed).not.toContainKey('mjml')
    },
  )

  holds('the templates that use an alias now are found, of their organization and mode', async (store, records) => {
    await found(store, records)
    const other = records.organization()
    await store.organizations.create(other)
    const using = { alias: null, layout: 'frame', uses: ['footer', 'foot'] }
    const [live, test] = [template(1, using), template(2, { ...using, mode: 'test' })]
    const foreign = template(3, { ...using, organizationId: other.id })
    for (const each of [live, test, foreign, template(4, { alias: null })]) await store.templates.create(each)
    const idsOf = async (alias: string, mode: 'live' | 'test' = 'live') =>
      (await store.templates.usersOf(ORGANIZATION, alias, mode)).map(({ id }) => id)
    expect(await idsOf('frame')).toEqual([live.id, test.id])
    expect(await idsOf('footer')).toEqual([live.id, test.id])
    expect(await idsOf('footer', 'test')).toEqual([test.id])
    expect(await idsOf('oot')).toEqual([])
    await updated(store, live.id, 1, { content: { ...live, ...NO_PARTS } }, START + 1)
    expect(await idsOf('footer')).toEqual([test.id])
    await updated(store, live.id, 2, { name: 'New' }, START + 2)
    expect(await idsOf('frame')).toEqual([test.id])
  })

  holds('a refused alias leaves no stored answer', async (store, records) => {
    await found(store, records)
    const [kept, lost] = [records.remember(), records.remember()]
    await store.templates.create(template(1), kept)
    await store.templates.create(template(2), lost)
    expect((await store.idempotency.find(kept.organizationId, kept.keyHash, 0))?.status).toBe(kept.status)
    expect(await store.idempotency.find(lost.organizationId, lost.keyHash, 0)).toBeNull()
  })

  holds('new content is a new version, and the old ones stay', async (store, records) => {
    await found(store, records)
    const first = template(1)
    await store.templates.create(first)
    const content = { subject: 'Two', html: first.html, text: null, variables: ['b'], ...NO_PARTS }
    const second = await updated(store, first.id, 1, { content, name: 'New' }, START + 5)
    const expected = { ...first, ...content, name: 'New', version: 2, updatedAt: START + 5 }
    expect(second).toEqual(expected)
    expect(await store.templates.get(first.id)).toEqual(expected)
    const { subject, html, text, variables } = first
    const old = { version: 1, createdAt: START, subject, html, text, variables, ...NO_PARTS }
    expect(await store.templates.version(first.id, 1)).toEqual(old)
    expect(await store.templates.version(first.id, 2)).toEqual({ version: 2, createdAt: START + 5, ...content })
    expect(await store.templates.version(first.id, 3)).toBeNull()
  })

  holds('the same content again, or a new name, is no new version', async (store, records) => {
    await found(store, records)
    const first = template(1)
    await store.templates.create(first)
    expect(await updated(store, first.id, 1, { content: first, name: first.name }, START + 5)).toEqual(first)
    const renamed = await updated(store, first.id, 1, { name: 'New', alias: null }, START + 6)
    expect(renamed).toEqual({ ...first, name: 'New', alias: null, updatedAt: START + 6 })
  })

  holds('a sample changes as a whole, is no new version, and survives new content', async (store, records) => {
    await found(store, records)
    const first = template(1)
    await store.templates.create(first)
    const sample = { 'a.b': [1, null, { c: '\u0000\u2028"' }], __proto: 'x' }
    expect(await updated(store, first.id, 1, { sample }, START + 5)).toEqual({
      ...first,
      sample,
      updatedAt: START + 5,
    })
    const second = await updated(store, first.id, 1, { content: { ...first, subject: 'Two' } }, START + 6)
    expect([second.version, second.sample]).toEqual([2, sample])
    expect((await store.templates.get(first.id))?.sample).toEqual(sample)
  })

  holds('the second of two changes of one version is refused', async (store, records) => {
    await found(store, records)
    const first = template(1)
    await store.templates.create(first)
    const change = (subject: string) => ({ content: { ...first, subject } })
    const answers = await Promise.all([
      store.templates.update(first.id, 1, change('Left'), START),
      store.templates.update(first.id, 1, change('Right'), START),
    ])
    expect(answers.map(({ kind }) => kind)).toEqual(['updated', 'changed'])
    expect((await store.templates.get(first.id))?.subject).toBe('Left')
    expect((await store.templates.update('tpl_none', 1, {}, START)).kind).toBe('unknown')
  })

  holds('the current version follows every change', async (store, records) => {
    await found(store, records)
    const first = template(1)
    await store.templates.create(first)
    const standing = {
      id: first.id,
      organizationId: ORGANIZATION,
      version: 1,
      mode: 'live' as const,
      kind: 'message' as const,
    }
    expect(await store.templates.current(ORGANIZATION, first.id)).toEqual(standing)
    expect(await store.templates.current(ORGANIZATION, 'welcome')).toEqual(standing)
    expect(await store.templates.current('org_b', first.id)).toEqual(standing)
    expect(await store.templates.current('org_b', 'welcome')).toBeNull()
    await updated(store, first.id, 1, { content: { ...first, subject: 'Two' } }, START)
    expect((await store.templates.current(ORGANIZATION, 'welcome'))?.version).toBe(2)
    await store.templates.remove(first.id)
    expect(await store.templates.current(ORGANIZATION, first.id)).toBeNull()
  })

  holds('templates are listed newest first and without the texts', async (store, records) => {
    await found(store, records)
    const all = [1, 2, 3].map((number) => template(number, { alias: `t${number}` }))
    for (const each of all) await store.templates.create(each)
    const ids = all.map(({ id }) => id).reverse()
    expect(await idsByPage((page) => store.templates.list(ORGANIZATION, page))).toEqual(ids)
    const { html, mjml, text, sample, layout, uses, locales, ...head } = all[2]!
    const { records: listed } = await store.templates.list(ORGANIZATION, { limit: 1, after: null })
    expect(listed).toEqual([head])
    expect((await store.templates.list('org_b', { limit: 9, after: null })).records).toEqual([])
  })

  holds('versions are listed newest first, in pages, and are deleted with their template', async (store, records) => {
    await found(store, records)
    const first = template(1)
    await store.templates.create(first)
    await store.templates.create(template(2, { alias: null }))
    for (const version of [1, 2]) {
      await updated(store, first.id, version, { content: { ...first, subject: `${version}` } }, START + version)
    }
    const page = (before: number | null) => store.templates.versions(first.id, { limit: 2, before })
    const versions = async (before: number | null) => (await page(before)).records.map(({ version }) => version)
    expect(await versions(null)).toEqual([3, 2])
    expect((await page(null)).hasMore).toBe(true)
    expect(await page(2)).toEqual({
      records: [{ version: 1, createdAt: START, subject: first.subject, variables: first.variables }],
      hasMore: false,
    })
    await store.templates.remove(first.id)
    expect(await versions(null)).toEqual([])
    expect(await store.templates.version(first.id, 1)).toBeNull()
  })
}

function template(number: number, change: Partial<Template> = {}): Template {
  return {
    id: `tpl_${number}`,
    organizationId: ORGANIZATION,
    mode: 'live',
    kind: 'message',
    alias: 'welcome',
    name: 'Welcome',
    subject: 'Hi {{ name }}',
    html: '<p>{{ name }}</p>',
    text: '{{ name }}, {{ order.id }}',
    variables: ['name', 'order.id'],
    layout: null,
    mjml: null,
    uses: [],
    locales: {},
    sample: { name: 'Ann', order: { id: 7 } },
    version: 1,
    createdAt: START,
    updatedAt: START,
    ...change,
  }
}

async function updated(store: Store, ...change: Parameters<Store['templates']['update']>): Promise<Template> {
  const result = await store.templates.update(...change)
  if (result.kind !== 'updated') throw new Error(result.kind)
  return result.template
}

const NO_PARTS = { mjml: null, layout: null, uses: [], locales: {} }
