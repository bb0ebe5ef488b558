/** Templates: a valid one renders to text, any other is a fault with a message, and nothing takes long. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFilling, parseText, TemplateFault } from '../../src/sending/submission/template-engine.ts'
import { runs } from './runs.ts'

const name = fc.constantFrom(
  'a',
  'a.b',
  'a.b[0]',
  'list',
  'list[0]',
  'list.first.x',
  'text',
  'n',
  'missing',
  'forloop.index',
  "a['b c']",
  'a[text]',
  '__proto__',
  'constructor',
  'a.constructor',
  'list.size',
  'nil',
  'true',
  'empty',
  'blank',
)
const literal = fc.constantFrom(
  '"x"',
  "'y'",
  '1',
  '-1',
  '1.5',
  '99999999999999999999',
  '(1..3)',
  '(1..999999999)',
  '(n..a)',
  '""',
  '"',
  "'",
  '"%Y"',
  '"%9999999d"',
  '", "',
  '"\\"',
)
const plain = fc.constantFrom('text', 'n', 'list', '"x"', '1', '2')
const value = fc.oneof(
  { weight: 3, arbitrary: plain },
  { weight: 1, arbitrary: name },
  { weight: 1, arbitrary: literal },
)
const filter = fc
  .tuple(
    fc.constantFrom(
      'upcase',
      'append',
      'prepend',
      'split',
      'join',
      'default',
      'date',
      'escape',
      'raw',
      'json',
      'replace',
      'slice',
      'times',
      'divided_by',
      'modulo',
      'plus',
      'round',
      'size',
      'sort',
      'map',
      'where',
      'first',
      'concat',
      'uniq',
      'truncate',
      'truncatewords',
      'strip_html',
      'newline_to_br',
      'url_encode',
      'url_decode',
      'base64_decode',
      'sum',
      'reverse',
      'at_least',
      'compact',
      'find',
      'has',
      'reject',
      'sort_natural',
      'inspect',
      'group_by',
      'where_exp',
      'push',
      'to_integer',
      'xml_escape',
      'cgi_escape',
      'slugify',
      'number_of_words',
      'none',
    ),
    fc.array(value, { maxLength: 2 }),
  )
  .map(([filterName, values]) => (values.length === 0 ? filterName : `${filterName}: ${values.join(', ')}`))
const expression = fc
  .tuple(value, fc.array(filter, { maxLength: 3 }))
  .map(([first, filters]) => [first, ...filters].join(' | '))
const condition = fc
  .tuple(value, fc.constantFrom('==', '!=', '<', 'contains', 'and', 'or', '>=', ''), value)
  .map((parts) => parts.join(' '))
const output = expression.map((inner) => `{{ ${inner} }}`)
const loose = fc.constantFrom(
  'text',
  'text',
  '<p>',
  '&',
  '{{',
  '}}',
  '{%',
  '%}',
  '{{}}',
  '{{-',
  '-%}',
  '\0',
  '\ud800',
  '{% else %}',
  '{% endif %}',
  '{% break %}',
)
const single = fc
  .tuple(
    fc.constantFrom(
      'assign x =',
      'assign a =',
      'cycle',
      'increment',
      'decrement',
      'echo',
      'render',
      'include',
      'layout',
      '#',
      'none',
    ),
    expression,
  )
  .map(([tag, inner]) => `{% ${tag} ${inner} %}`)
const loop = fc
  .tuple(value, fc.constantFrom('', ' limit: 2', ' reversed', ' offset: continue', ' cols: 2', ' limit: text'))
  .map(([inner, more]) => `i in ${inner}${more}`)
/** Nested blocks, closed correctly. */
const { piece } = fc.letrec<{ piece: string; block: string }>((tie) => ({
  block: fc
    .tuple(
      fc.oneof(
        fc.tuple(fc.constantFrom('if', 'unless'), condition),
        fc.tuple(fc.constantFrom('for', 'tablerow'), loop),
        fc.tuple(fc.constantFrom('case'), value),
        fc.constantFrom<[string, string][]>(['capture', 'x'], ['raw', ''], ['comment', '']),
      ),
      fc.constantFrom('', '', '{% else %}', '{% when 1, "x" %}'),
      fc.array(tie('piece'), { maxLength: 4 }),
    )
    .map(([[tag, inner], middle, parts]) => `{% ${tag} ${inner} %}${middle}${parts.join('')}{% end${tag} %}`),
  piece: fc.oneof(
    { maxDepth: 4 },
    { weight: 8, arbitrary: fc.oneof(output, output, fc.constant('text')) },
    { weight: 1, arbitrary: loose },
    { weight: 2, arbitrary: single },
    { weight: 4, arbitrary: tie('block') },
  ),
}))
const source = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
const variables = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constant({
      a: { b: ['x', 1, null], 'b c': '<&>' },
      list: [1, { x: 'y' }, [2], null],
      text: '<b>"\'&',
      n: 3,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.dictionary(
      fc.constantFrom('a', 'list', 'text', 'n', '__proto__', 'x'),
      fc.jsonValue({ maxDepth: 3 }),
      {
        maxKeys: 5,
      },
    ),
  },
)

test('each template is text or a fault with a message', () => {
  const run = fc.property(source, variables, fc.constantFrom('html', 'plain'), (text, given, kind) => {
    const before = JSON.stringify(given)
    const cpuBefore = process.cpuUsage()
    try {
      const parsed = parseText(text, kind as 'html')
      const fill = createFilling(given as Record<string, unknown>)
      const filled = fill(parsed)
      expect(typeof filled).toBe('string')
      expect(filled.length).toBeLessThan(20_000_000)
      expect(createFilling(given as Record<string, unknown>)(parsed)).toBe(filled)
    } catch (error) {
      if (!(error instanceof TemplateFault)) throw error
      expect(error.message).toMatch(/\S/)
      expect(error.message).not.toMatch(
        /undefined is not|JSON Parse|evaluating|Cannot read|is not a function|\bat .*\.js:/,
      )
      expect(error.message.length).toBeLessThan(600)
    }
    const { user, system } = process.cpuUsage(cpuBefore)
    expect((user + system) / 1000).toBeLessThan(4_000)
    expect(JSON.stringify(given)).toBe(before)
  })
  fc.assert(run, runs<[string, object, string]>({ target: 'templates', property: 'fill' }, 1_500, 61) as never)
})
