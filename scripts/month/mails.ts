/** What Northwind Books sends, and to whom: everything follows from numbers of a seeded generator, so that two months are the
 *  same but for their dates. */
import { MAIL_DOMAINS } from './providers.ts'

export const DOMAIN = 'northwind.example'
export const SENDING_DOMAINS = [
  DOMAIN,
  'orders.northwind.example',
  'status.northwind.example',
  'northwind-books.example',
]

/** Numbers from 0 to below 1 (mulberry32). */
export function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const NAMES = [
  'Ann Bergström',
  'Tomás Ibáñez',
  'Zoë Vandenberghe',
  'Jürgen Groß',
  'Aleksandra Wiśniewska-Kowalczyk',
  'Nguyễn Thị Minh Khai',
  'محمد العبدالله',
  'نورا السيد',
  'דניאל כהן',
  'יעל אברהמי',
  '山田太郎',
  '佐藤 美咲',
  '王小明',
  '김서연',
  'Иван Петров',
  'Ελένη Παπαδοπούλου',
  'Siobhán O’Connor',
  'Bob',
  'Maria Luísa Fernández de Córdoba y Álvarez de Toledo',
  'Dr. Karl-Theodor Freiherr von und zu Hohenstein-Waldenburg',
  'Priya Raghunathan',
  'Chloé Dubois',
  'Mehmet Yılmaz',
  'Lars Nygård',
  'Oluwaseun Adeyemi',
  'Emma 🌻 Larsen',
  'Kai',
  'Jo',
]
const LOCALS = [
  'ann',
  'tomas.ibanez',
  'zoe',
  'juergen.gross',
  'aleksandra.wisniewska-kowalczyk',
  'minh.khai',
  'mohammed',
  'noura',
  'daniel.cohen',
  'yael',
  'taro.yamada',
  'misaki',
  'xiaoming.wang',
  'seoyeon',
  'ivan.petrov',
  'eleni',
  'siobhan',
  'bob',
  'maria-luisa.fernandez-de-cordoba',
  'karl.theodor',
  'priya',
  'chloe.dubois',
  'mehmet',
  'lars',
  'seun',
  'emma.larsen',
  'kai',
  'jo',
]

interface Kind {
  weight: number
  domain: string
  from: string
  tags: string[]
  subjects: string[]
  stream?: string
  template?: string
  /** Share of new addresses, which are wrong more often. */
  fresh: number
  opens: number
}

const SHOP = 'Northwind Books <orders@orders.northwind.example>'
const KINDS: Kind[] = [
  {
    weight: 30,
    domain: 'orders.northwind.example',
    from: SHOP,
    tags: ['order'],
    template: 'order-confirmation',
    fresh: 0.1,
    opens: 0.6,
    subjects: [
      'Your order NW-{n} is confirmed',
      'Ihre Bestellung NW-{n} ist eingegangen',
      'تم تأكيد طلبك رقم NW-{n} (3 كتب)',
      'ההזמנה שלך NW-{n} התקבלה',
      'ご注文 NW-{n} を承りました',
      '您的订单 NW-{n} 已确认',
    ],
  },
  {
    weight: 22,
    domain: 'orders.northwind.example',
    from: SHOP,
    tags: ['order', 'shipping'],
    fresh: 0.02,
    opens: 0.5,
    subjects: [
      '📦 NW-{n} is on its way',
      'Your parcel arrives tomorrow',
      '주문하신 책이 발송되었습니다 (NW-{n})',
      'Your parcel is on its way to the pick-up point that you chose, and will wait there for seven days from the time of its arrival',
    ],
  },
  {
    weight: 14,
    domain: DOMAIN,
    from: 'Northwind Books <hello@northwind.example>',
    tags: ['account'],
    fresh: 0.3,
    opens: 0.55,
    template: 'welcome',
    subjects: ['Welcome to Northwind Books', 'Confirm your email address', 'Willkommen bei Northwind Books 👋'],
  },
  {
    weight: 12,
    domain: DOMAIN,
    from: 'Northwind Books <hello@northwind.example>',
    tags: ['account', 'security'],
    fresh: 0.05,
    opens: 0.7,
    subjects: ['Reset your password', 'Your sign-in code: {c}', 'New sign-in from Chrome on Windows'],
  },
  {
    weight: 10,
    domain: 'status.northwind.example',
    from: 'Northwind Status <status@status.northwind.example>',
    tags: ['status'],
    fresh: 0,
    opens: 0.2,
    stream: 'digest',
    subjects: ['Weekly digest: 12 new titles for you', 'Your reading list, week {w}'],
  },
  {
    weight: 12,
    domain: 'northwind-books.example',
    from: 'Northwind Reviews and Recommendations <reviews@northwind-books.example>',
    tags: ['campaign', 'autumn-2026'],
    fresh: 0.12,
    opens: 0.25,
    stream: 'bulk',
    subjects: [
      '🍂 Autumn sale: 30 % off 1,200 titles',
      'How did you like “The Left Hand of Darkness”?',
      'كتب جديدة لشهر نوفمبر 2026 📚',
    ],
  },
]
const BY_WEIGHT = KINDS.flatMap((kind) => Array.from({ length: kind.weight }, () => kind))

export interface PlannedMail {
  domain: string
  from: string
  /** `Name <a@d>` */
  to: string
  subject: string
  html: string
  tags: string[]
  metadata: Record<string, string | number | boolean>
  stream: string
  /** Alias; null: none. */
  template: string | null
  /** Share of readers who open it. */
  opens: number
}

/** Endless mails, one for each call with the number of the day. */
export class Mails {
  readonly #random: () => number
  readonly #customers: string[] = []
  #number = 10_400

  constructor(random: () => number) {
    this.#random = random
    for (let n = 0; n < 1_400; n++) this.#customers.push(this.#newCustomer())
  }

  next(day: number): PlannedMail {
    const random = this.#random
    const kind = this.#pick(BY_WEIGHT)
    const number = this.#number++
    const to = random() < kind.fresh ? this.#newCustomer() : this.#pick(this.#customers)
    const name = /^(.*) </.exec(to)?.[1] ?? 'reader'
    const subject = this.#pick(kind.subjects)
      .replace('{n}', String(number))
      .replace('{c}', `${100 + Math.floor(random() * 900)} ${100 + Math.floor(random() * 900)}`)
      .replace('{w}', String(44 + Math.floor(day / 7)))
    const order = { order: `NW-${number}`, customer_id: 40_000 + Math.floor(random() * 9_000), express: random() < 0.2 }
    const { domain, from, tags, opens, stream = 'transactional', template = null } = kind
    const html = `<h1>${subject}</h1><p>Dear ${name},</p><p>thank you for reading with us.</p><p><a href="https://${DOMAIN}/orders/${number}">See the details</a></p>`
    const metadata = tags.includes('order') ? order : {}
    return { domain, from, to, subject, html, tags, metadata, stream, template, opens }
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T // the index is within the list
  }

  #newCustomer(): string {
    const at = Math.floor(this.#random() * NAMES.length)
    const suffix = Math.floor(this.#random() * 9_000)
    return `${NAMES[at]?.replace('.', '')} <${LOCALS[at]}${suffix}@${this.#pick(MAIL_DOMAINS)}>`
  }
}

/** Recipients of an hour of the month: busy by day, quiet at night and on Sundays, with a campaign on the 23rd day. */
export function volumeAt(day: number, hour: number, weekday: number, random: () => number): number {
  const byHour = Math.max(0.08, Math.sin(((hour - 5) / 19) * Math.PI)) * (hour >= 5 ? 1 : 0.3)
  const byDay = [0.55, 1.1, 1.05, 1, 1.05, 1.15, 0.75][weekday] ?? 1
  const growth = 0.75 + day / 60
  const campaign = day === 23 && hour >= 9 && hour < 12 ? 6 : 1
  return Math.round(26.5 * byHour * byDay * growth * campaign * (0.7 + random() * 0.6))
}
