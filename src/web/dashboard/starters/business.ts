import { button, heading, link, page, paragraph, quiet, rows } from './layout.ts'
import type { Starter } from './list.ts'

/** Starter templates about payments, events and news. */

const ITEMS = [
  { name: 'Green tea, 250 g', quantity: 2, amount: '€ 24.00' },
  { name: 'Teapot, 1 litre', quantity: 1, amount: '€ 39.00' },
]

export const receipt: Starter = {
  subject: 'Your receipt for order {{ order.number }}',
  html: page({
    title: 'Receipt for order {{ order.number }}',
    preheader: 'You paid {{ order.total }} on {{ order.date }}.',
    body: [
      heading('Thank you for your order'),
      paragraph('We received your payment for order {{ order.number }} on {{ order.date }}.'),
      rows([
        '{% for item in order.items %}',
        ['{{ item.quantity }} × {{ item.name }}', '{{ item.amount }}'],
        '{% endfor %}',
        ['<strong>Total</strong>', '<strong>{{ order.total }}</strong>'],
        ['Paid with', '{{ order.payment_method }}'],
      ]),
      button('View your order', '{{ order.url }}'),
      quiet(`Something wrong? Write to ${link('{{ support_email }}', 'mailto:{{ support_email }}')}.`),
    ],
    reason: 'You receive this message because you ordered from {{ product }}.',
  }),
  text: `Thank you for your order.

We received your payment for order {{ order.number }} on {{ order.date }}.
{% for item in order.items %}
{{ item.quantity }} x {{ item.name }}: {{ item.amount }}
{%- endfor %}

Total: {{ order.total }}
Paid with: {{ order.payment_method }}

View your order: {{ order.url }}

Something wrong? Write to {{ support_email }}.
`,
  sample: {
    product: 'Acme',
    order: {
      number: '1001',
      date: '24 November 2026',
      items: ITEMS,
      total: '€ 63.00',
      payment_method: 'Visa, ending in 4242',
      url: 'https://shop.acme.example/orders/1001',
    },
    support_email: 'support@acme.example',
  },
}

export const invoice: Starter = {
  subject: 'Invoice {{ invoice.number }} from {{ product }}, due {{ invoice.due_date }}',
  html: page({
    title: 'Invoice {{ invoice.number }}',
    preheader: '{{ invoice.total }} is due on {{ invoice.due_date }}.',
    body: [
      heading('Invoice {{ invoice.number }}'),
      paragraph('{{ invoice.total }} is due on {{ invoice.due_date }}, for services until {{ invoice.date }}.'),
      rows([
        '{% for item in invoice.items %}',
        ['{{ item.quantity }} × {{ item.name }}', '{{ item.amount }}'],
        '{% endfor %}',
        ['Subtotal', '{{ invoice.subtotal }}'],
        ['Tax ({{ invoice.tax_rate }})', '{{ invoice.tax }}'],
        ['<strong>Total</strong>', '<strong>{{ invoice.total }}</strong>'],
      ]),
      button('Pay the invoice', '{{ invoice.url }}'),
      quiet('{{ seller.name }}, {{ seller.address }}. Tax number {{ seller.tax_number }}.'),
    ],
    reason: 'You receive this message because your organization uses {{ product }}.',
  }),
  text: `Invoice {{ invoice.number }}

{{ invoice.total }} is due on {{ invoice.due_date }}, for services until {{ invoice.date }}.
{% for item in invoice.items %}
{{ item.quantity }} x {{ item.name }}: {{ item.amount }}
{%- endfor %}

Subtotal: {{ invoice.subtotal }}
Tax ({{ invoice.tax_rate }}): {{ invoice.tax }}
Total: {{ invoice.total }}

Pay the invoice: {{ invoice.url }}

{{ seller.name }}, {{ seller.address }}. Tax number {{ seller.tax_number }}.
`,
  sample: {
    product: 'Acme',
    invoice: {
      number: '2026-117',
      date: '31 October 2026',
      due_date: '8 December 2026',
      items: [
        { name: 'Team plan, October', quantity: 5, amount: '€ 45.00' },
        { name: 'Additional storage, 100 GB', quantity: 1, amount: '€ 5.00' },
      ],
      subtotal: '€ 50.00',
      tax_rate: '20 %',
      tax: '€ 10.00',
      total: '€ 60.00',
      url: 'https://app.acme.example/invoices/2026-117',
    },
    seller: { name: 'Acme Ltd', address: '12 Harbour Street, 1010 Vienna', tax_number: 'ATU12345678' },
  },
}

export const alert: Starter = {
  subject: '[{{ alert.severity }}] {{ alert.title }}',
  html: page({
    title: '{{ alert.title }}',
    preheader: '{{ alert.severity }} since {{ alert.time }}.',
    body: [
      heading('{{ alert.title }}'),
      paragraph('{{ alert.text }}'),
      rows([
        ['Severity', '{{ alert.severity }}'],
        ['Since', '{{ alert.time }}'],
        '{% for detail in alert.details %}',
        ['{{ detail.name }}', '{{ detail.value }}'],
        '{% endfor %}',
      ]),
      button('View the alert', '{{ alert.url }}'),
    ],
    reason: `You receive this message because you watch this project in {{ product }}. ${link('Change your notifications', '{{ settings_url }}')}.`,
  }),
  text: `{{ alert.title }}

{{ alert.text }}

Severity: {{ alert.severity }}
Since: {{ alert.time }}
{%- for detail in alert.details %}
{{ detail.name }}: {{ detail.value }}
{%- endfor %}

View the alert: {{ alert.url }}

Change your notifications: {{ settings_url }}
`,
  sample: {
    product: 'Acme Monitoring',
    alert: {
      severity: 'Warning',
      title: 'Disk of web-2 is 91 % full',
      text: 'At the present rate the disk will be full in about 14 hours.',
      time: '24 November 2026, 09:41 UTC',
      details: [
        { name: 'Server', value: 'web-2' },
        { name: 'Free space', value: '8.4 GB' },
      ],
      url: 'https://status.acme.example/alerts/3141',
    },
    settings_url: 'https://status.acme.example/notifications',
  },
}

export const digest: Starter = {
  subject: 'Your {{ product }} summary for {{ period }}',
  html: page({
    title: 'Summary for {{ period }}',
    preheader: 'Your figures and news for {{ period }}.',
    body: [
      heading('Summary for {{ period }}'),
      rows([
        '{% for figure in figures %}',
        ['{{ figure.name }}', '<strong>{{ figure.value }}</strong>'],
        '{% endfor %}',
      ]),
      `{% for item in items %}
${paragraph(`${link('{{ item.title }}', '{{ item.url }}')}<br>{{ item.text }}`)}
{% endfor %}`,
      button('Open {{ product }}', '{{ app_url }}'),
    ],
    reason: `You receive this summary every week because you use {{ product }}. ${link('Change how often', '{{ settings_url }}')} or ${link('unsubscribe', '{{ unsubscribe_url }}')}.`,
  }),
  text: `Summary for {{ period }}
{% for figure in figures %}
{{ figure.name }}: {{ figure.value }}
{%- endfor %}
{% for item in items %}
{{ item.title }}
{{ item.text }}
{{ item.url }}
{% endfor %}
Open {{ product }}: {{ app_url }}

Change how often you receive this summary: {{ settings_url }}
Unsubscribe: {{ unsubscribe_url }}
`,
  sample: {
    product: 'Acme',
    period: '16 to 22 November',
    figures: [
      { name: 'Tasks completed', value: 38 },
      { name: 'New comments', value: 112 },
    ],
    items: [
      {
        title: 'The new home page is online',
        text: 'Bob published it on Thursday.',
        url: 'https://app.acme.example/tasks/214',
      },
      {
        title: 'Three tasks are overdue',
        text: 'The oldest one was due on 12 November.',
        url: 'https://app.acme.example/tasks/overdue',
      },
    ],
    app_url: 'https://app.acme.example/',
    settings_url: 'https://app.acme.example/settings/summary',
    unsubscribe_url: 'https://app.acme.example/unsubscribe/5c2e',
  },
}
