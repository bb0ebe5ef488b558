import { describe, expect, test } from 'bun:test'
import { keysOf } from '../../../os/records.ts'
import { MOST, SOURCES } from './sources.ts'

describe('a service with endless templates', () => {
  test.each(keysOf(SOURCES).filter((name) => SOURCES[name].list !== null))(
    'is read up to a limit: %s',
    async (name) => {
      const template = {
        ...{ id: 'a', TemplateId: 1, name: 'a', html: 'x', HtmlBody: 'x' },
        ...{ versions: [{ html_content: 'x' }], version: { template: 'x' } },
      }
      const list = Array.from({ length: MOST - 1 }, () => template)
      const next = 'https://x.example/?page_token=y&p=y'
      const page = { has_more: true, TotalCount: 1e9, _metadata: { next }, paging: { next } }
      let requests = 0
      const get = async (path: string) => {
        requests++
        if (/limit=|count=|page_size=/.test(path)) return { ...page, data: list }
        return { ...template, data: list, templates: list }
      }
      const found = []
      for await (const each of SOURCES[name].list!(get)) found.push(each)
      expect(found).toHaveLength(MOST)
      expect(requests).toBe(MOST + 2)
    },
  )
})
