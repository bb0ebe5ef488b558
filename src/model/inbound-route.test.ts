import { describe, expect, test } from 'bun:test'
import { chooseRoute, type InboundRoute, type RouteMatch, weighRoutes } from './inbound-route.ts'

let made = 0

function route(match: RouteMatch, change: Partial<InboundRoute> = {}): InboundRoute {
  const number = ++made
  return {
    id: `rte_${String(number).padStart(26, '0')}`,
    organizationId: 'org_1',
    name: `route ${number}`,
    match,
    action: { type: 'store', config: {} },
    authentication: 'none',
    enabled: true,
    priority: 0,
    createdAt: number,
    ...change,
  }
}

const address = (value: string, change?: Partial<InboundRoute>) => route({ type: 'address', value }, change)
const pattern = (value: string, change?: Partial<InboundRoute>) => route({ type: 'pattern', value }, change)
const domain = (value: string, change?: Partial<InboundRoute>) => route({ type: 'domain', value }, change)
const catchAll = (change?: Partial<InboundRoute>) => route({ type: 'catch_all', value: null }, change)

function at(text: string) {
  const cut = text.lastIndexOf('@')
  return { local: text.slice(0, cut), domain: text.slice(cut + 1) }
}

describe('a match', () => {
  const cases: [RouteMatch, address: string, takes: boolean][] = [
    [{ type: 'address', value: 'info@a.test' }, 'info@a.test', true],
    [{ type: 'address', value: 'info@a.test' }, 'INFO@a.test', true],
    [{ type: 'address', value: 'info@a.test' }, '"info"@a.test', true],
    [{ type: 'address', value: 'info@a.test' }, '"in\\fo"@a.test', true],
    [{ type: 'address', value: 'info@a.test' }, 'info+tag@a.test', true],
    [{ type: 'address', value: 'info@a.test' }, 'info+a+b@a.test', true],
    [{ type: 'address', value: 'info+tag@a.test' }, 'info@a.test', false],
    [{ type: 'address', value: 'info@a.test' }, 'info-tag@a.test', false],
    [{ type: 'address', value: 'info@a.test' }, 'info@b.test', false],
    [{ type: 'address', value: 'info@a.test' }, 'info@sub.a.test', false],
    [{ type: 'address', value: '@a.test' }, '+tag@a.test', false],
    [{ type: 'address', value: 'jos\u00e9@a.test' }, 'JOSE\u0301@a.test', true],
    [{ type: 'address', value: 'a*@a.test' }, 'ab@a.test', false],
    [{ type: 'pattern', value: 'order-*@a.test' }, 'order-17@a.test', true],
    [{ type: 'pattern', value: 'Order-*@a.test' }, 'order-@a.test', true],
    [{ type: 'pattern', value: 'order-*@a.test' }, 'order@a.test', false],
    [{ type: 'pattern', value: 'order-*@a.test' }, 'order-17@b.test', false],
    [{ type: 'pattern', value: 'o?d*r@a.test' }, 'older@a.test', true],
    [{ type: 'pattern', value: '?@a.test' }, '\u{1f600}@a.test', true],
    [{ type: 'pattern', value: '??@a.test' }, 'a@a.test', false],
    [{ type: 'pattern', value: '*a*b*@a.test' }, 'xxaxxbxx@a.test', true],
    [{ type: 'pattern', value: '*ab@a.test' }, 'aabab@a.test', true],
    [{ type: 'pattern', value: '*ab@a.test' }, 'aaba@a.test', false],
    [{ type: 'pattern', value: '*.*@a.test' }, 'plain@a.test', false],
    [{ type: 'pattern', value: '(a+)+$@a.test' }, 'aaaa@a.test', false],
    [{ type: 'pattern', value: 'in?o@a.test' }, 'info+tag@a.test', true],
    [{ type: 'domain', value: 'a.test' }, 'anything@a.test', true],
    [{ type: 'domain', value: 'a.test' }, 'anything@b.test', false],
    [{ type: 'catch_all', value: null }, '"odd @ one"@b.test', true],
  ]
  test.each(cases)('%j and %s: %j', (match, spoken, takes) => {
    const only = route(match)
    expect(chooseRoute([only], at(spoken))?.route ?? null).toBe(takes ? only : null)
  })

  test('of a hostile pattern takes little time', () => {
    const hostile = pattern(`${'*a'.repeat(2_000)}b@a.test`)
    expect(chooseRoute([hostile], at(`${'a'.repeat(2_000)}@a.test`))).toBeNull()
  })
})

describe('the order', () => {
  /** Each list is in the order in which the routes take mail to a+tag@a.test. */
  const orders: [string, InboundRoute[]][] = [
    [
      'is address, pattern, domain, catch-all',
      [address('a@a.test'), pattern('a*@a.test'), domain('a.test'), catchAll()],
    ],
    [
      'follows priority before all',
      [catchAll({ priority: 2 }), domain('a.test', { priority: 1 }), address('a@a.test')],
    ],
    ['takes a negative priority last', [catchAll(), address('a@a.test', { priority: -1 })]],
    ['prefers the exact address to its bare form', [address('a+tag@a.test', { createdAt: 9e9 }), address('a@a.test')]],
    ['prefers a pattern for the exact address', [pattern('a+*@a.test', { createdAt: 9e9 }), pattern('?@a.test')]],
    ['prefers the older of equals', [domain('a.test', { createdAt: 1 }), domain('a.test', { createdAt: 2 })]],
    ['falls back to the id', [domain('a.test', { createdAt: 1 }), domain('a.test', { createdAt: 1 })]],
  ]
  test.each(orders)('%s', (_, ordered) => {
    for (const routes of [ordered, ordered.toReversed()]) {
      expect(chooseRoute(routes, at('a+tag@a.test'))?.route).toBe(ordered[0]!)
      expect(weighRoutes(routes, at('a+tag@a.test')).map((each) => each.route)).toEqual(ordered)
    }
  })

  test('leaves out disabled routes', () => {
    const rest = catchAll()
    expect(chooseRoute([address('a@a.test', { enabled: false }), rest], at('a@a.test'))?.route).toBe(rest)
    expect(chooseRoute([domain('a.test', { enabled: false })], at('a@a.test'))).toBeNull()
    expect(chooseRoute([], at('a@a.test'))).toBeNull()
  })

  test('says what the route matched by', () => {
    expect(chooseRoute([address('a@a.test')], at('a+x@a.test'))).toMatchObject({ by: 'address', viaBareAddress: true })
    expect(chooseRoute([address('a@a.test')], at('A@a.test'))).toMatchObject({ by: 'address', viaBareAddress: false })
    expect(chooseRoute([domain('a.test')], at('a+x@a.test'))).toMatchObject({ by: 'domain', viaBareAddress: false })
  })
})

test('every route says why it takes the mail or does not', () => {
  const routes = [
    catchAll({ name: 'rest' }),
    domain('b.test', { name: 'elsewhere', priority: 9 }),
    address('a@a.test', { name: 'bare' }),
    address('z@a.test', { name: 'other' }),
    address('a+tag@a.test', { name: 'exact' }),
    pattern('z*@a.test', { name: 'zeds' }),
    pattern('a*@a.test', { name: 'off', enabled: false }),
    domain('a.test', { name: 'low', priority: -5 }),
    address('a@a.test', { name: 'younger' }),
  ]
  const reported = weighRoutes(routes, at('a+tag@a.test'))
  expect(reported.map(({ route, matches, takes, why }) => [route.name, matches, takes, why])).toEqual([
    ['exact', true, true, 'accepts the mail: the address is a+tag@a.test'],
    [
      'bare',
      true,
      false,
      'matches (the address without its +tag is a@a.test), but "exact" takes precedence: it matches the full address with its +tag',
    ],
    [
      'younger',
      true,
      false,
      'matches (the address without its +tag is a@a.test), but "exact" takes precedence: it matches the full address with its +tag',
    ],
    [
      'rest',
      true,
      false,
      'matches (it matches every address at any domain), but "exact" takes precedence: an address takes precedence over a catch-all',
    ],
    ['low', true, false, 'matches (the domain is a.test), but "exact" takes precedence: its priority is 0, not -5'],
    ['elsewhere', false, false, 'does not match: it is for b.test'],
    ['other', false, false, 'does not match: the address is not z@a.test'],
    ['zeds', false, false, 'does not match the pattern z*@a.test'],
    ['off', false, false, 'would match but is disabled'],
  ])
  const [, , behind] = weighRoutes([domain('a.test'), domain('a.test'), domain('a.test')], at('a@a.test'))
  expect(behind?.why).toEndWith('takes precedence: it is older')
})
