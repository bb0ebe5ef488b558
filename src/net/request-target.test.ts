import { expect, test } from 'bun:test'
import { requestTarget } from './request-target.ts'

test('a path is found behind any host, an invalid one and none', () => {
  const found = ['http://x/a?b=1#c', '/a?b=1', 'http://a b/a', 'https://[::/a', 'http://x:99999', '//', '*', ''].map(
    (url) => {
      const { pathname, search } = requestTarget({ url })
      return `${pathname}${search}`
    },
  )
  expect(found).toEqual(['/a?b=1', '/a?b=1', '/a', '/a', '/', '//', '/*', '/'])
})
