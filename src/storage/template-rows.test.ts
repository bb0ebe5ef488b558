import { expect, test } from 'bun:test'
import { packExtra, toContent } from './template-rows.ts'

test('a row of an earlier release has no MJML', () => {
  const german = { subject: null, html: '<p>Hallo</p>', text: null, variables: [] }
  const extra = JSON.stringify({ layout: 'frame', uses: [], locales: { de: german } })
  const content = toContent({ subject: 'Hi', html: '<p>Hi</p>', text: null, variables: '[]', extra })
  expect(content).toEqual({
    ...{ subject: 'Hi', html: '<p>Hi</p>', mjml: null, text: null, variables: [], layout: 'frame', uses: [] },
    locales: { de: { ...german, mjml: null } },
  })
  expect(packExtra({ ...content, layout: null, locales: {} })).toBeNull()
})
