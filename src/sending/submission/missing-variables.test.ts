import { expect, test } from 'bun:test'
import { Refusal } from '../../model/refusal.ts'
import { fillTemplate, parseTemplateTexts } from './render.ts'
import { WORK } from './template-work.ts'

function refusal(texts: { subject?: string; html: string }, variables: Record<string, unknown>): Refusal {
  try {
    fillTemplate(parseTemplateTexts({ subject: null, text: null, ...texts }), variables)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('it rendered')
}

const MAIL = {
  subject: '{{ code }} for {{ product }}',
  html: '<p>{{ user.name }} {{ minutes }} {{ note | default: "" }} {% if gift %}{{ gift }}{% endif %}</p>',
}

test('names every missing variable at once, of all texts, without those that need no value', () => {
  const { message, details } = refusal(MAIL, { product: 'Jam', user: {} })
  expect(message).toBe('variables code, user.name and minutes are missing and have no default')
  expect(details).toMatchObject({ variable: 'code', missing: ['code', 'user.name', 'minutes'] })
})

test('names one missing variable with its text, as before, and changes no given one', () => {
  const given = { code: 1, product: 'Jam', user: {}, minutes: 5 }
  expect(refusal(MAIL, given).message).toContain('variable user.name is missing and has no default')
  expect(given).toEqual({ code: 1, product: 'Jam', user: {}, minutes: 5 })
})

test('names the list whose items nothing can replace', () => {
  const html = '{% for item in items %}{{ item.name }}{% endfor %} {{ total }}'
  expect(refusal({ html }, {}).details).toMatchObject({ variable: 'items' })
})

test('finding all of them costs at most as much as another mail, however much its caller may spend', () => {
  const unknown = Array.from({ length: 50 }, (_, n) => `{{ v${n} }}`).join('')
  const html = `{% for row in rows %}${'x'.repeat(300)}{% endfor %}${unknown}`
  const parsed = parseTemplateTexts({ subject: null, text: null, html })
  const most = 1_000 * WORK
  const workBudget = { left: most }
  const fill = () => fillTemplate(parsed, { rows: Array(3_000).fill(1) }, workBudget)
  expect(fill).toThrow(/^variables v0, v1, .* are missing/)
  const spent = most - workBudget.left
  expect(spent).toBeGreaterThan(WORK)
  expect(spent).toBeLessThan(2 * WORK)
})
