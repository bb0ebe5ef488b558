import { describe, expect, test } from 'bun:test'
import { createFilling, parseText, TemplateFault } from './template-engine.ts'

const items = [{ price: 0.1 }, { price: '0.2' }, { price: 19.99 }, {}, { price: null }]
const variables = {
  items,
  huge: 1e308,
  endless: '1e999',
  none: null,
  zero: 0,
  prices: [1.1, 2.2, 3.3],
  order: { id: 1 },
}

function filled(source: string, kind: 'plain' | 'html' = 'plain'): string {
  return createFilling(variables)(parseText(source, kind))
}

function faultOf(source: string): string {
  try {
    return filled(source)
  } catch (error) {
    if (error instanceof TemplateFault) return `fault: ${error.message}`
    throw error
  }
}

describe('arithmetic', () => {
  /** As Ruby's BigDecimal computes them. */
  test.each([
    ['3.95 | times: 2', '7.9'],
    ['10 | minus: 2.1', '7.9'],
    ['9.9 | minus: 2', '7.9'],
    ['0.1 | plus: 0.2', '0.3'],
    ['1.1 | times: 3', '3.3'],
    ['19.99 | times: 100', '1999'],
    ['0.57 | times: 100 | floor', '57'],
    ['4.35 | times: 100 | ceil', '435'],
    ['1000000.1 | minus: 1000000', '0.1'],
    ['0.3 | divided_by: 0.1', '3'],
    ['7.9 | modulo: 0.1', '0'],
    ['-1.1 | plus: 0.1', '-1'],
    ['"1.10" | plus: "2.20"', '3.3'],
    ['items | sum: "price"', '20.29'],
    ['prices | sum', '6.6'],
    ['1.005 | times: 1 | round: 2', '1.01'],
    ['"1e-7" | plus: 0', '1e-7'],
    ['9007199254740991 | plus: 0', '9007199254740991'],
  ])('{{ %s }} is %p', (expression, expected) => expect(filled(`{{ ${expression} }}`)).toBe(expected))

  test.each([
    ['10 | divided_by: 4', '2.5'],
    ['10 | divided_by: 4, true', '2'],
    ['-7 | modulo: 3', '2'],
    ['none | plus: 1', '1'],
    ['"x" | plus: 1', '1'],
    ['0 | divided_by: 5', '0'],
    ['5 | minus: empty', '5'],
    ['huge | divided_by: 1.0000001 | divided_by: huge | round: 3', '1'],
  ])('{{ %s }} stays %p, as in liquidjs', (expression, expected) => {
    expect(filled(`{{ ${expression} }}`)).toBe(expected)
  })

  test.each([
    '5 | divided_by: 0',
    '0 | divided_by: 0',
    '5.5 | divided_by: 0.0',
    '5 | divided_by: zero',
    '5 | divided_by: none',
    '5 | divided_by: "x"',
    '5 | divided_by: 0, true',
    '5 | modulo: 0',
    'items | sum: "price" | modulo: zero',
  ])('{{ %s }} is a fault', (expression) => {
    expect(faultOf(`{{ ${expression} }}`)).toBe('fault: a number is divided by zero')
    expect(faultOf(`{% assign x = ${expression} %}`)).toBe('fault: a number is divided by zero')
  })

  test.each([
    'huge | times: 10',
    'huge | plus: huge',
    'endless | plus: 1',
    '1 | divided_by: endless',
    'huge | divided_by: 0.01',
  ])('{{ %s }} is too large, instead of Infinity', (expression) =>
    expect(faultOf(`{{ ${expression} }}`)).toBe('fault: a number is too large'),
  )
})

describe('a value that is nothing', () => {
  test.each([
    '{{ nil }}',
    '{{ null }}',
    '{{ empty }}',
    '{{ blank }}',
    '{{ empty | raw }}',
    '{% echo blank %}',
    '{% cycle empty %}',
    '{% assign x = empty %}{{ x }}',
    '{% capture x %}{{ nil }}{{ blank }}{% endcapture %}{{ x }}',
    '{{ none | default: empty }}',
    '{{ blank | append: nil }}',
    '{{ empty | upcase }}',
    '{{ empty | escape }}',
  ])('renders as nothing in %p', (source) => {
    expect(filled(`[${source}]`)).toBe('[]')
    expect(filled(`[${source}]`, 'html')).toBe('[]')
  })

  test('renders as nothing when a partial gets it', () => {
    const partial = parseText('{{ a }}{{ b }}{{ c | default: "c" }}', 'html')
    const parts = { layout: null, partials: new Map([['p', partial]]) }
    expect(createFilling({})(parseText('{% render "p", a: nil, b: empty, c: blank %}', 'html'), parts)).toBe('c')
  })
})

test.each(['{{ order }}', '{{ order | raw }}', '{% echo items %}'])(
  '%p is a fault instead of [object Object]',
  (source) => {
    expect(faultOf(source)).toContain('use one of its fields')
  },
)
