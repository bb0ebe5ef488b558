import { button, digits, heading, link, page, paragraph, quiet } from './layout.ts'
import type { Starter } from './list.ts'

/** Starter templates about accounts. */

export const signInCode: Starter = {
  subject: '{{ code }} is your {{ product }} sign-in code',
  html: page({
    title: 'Your sign-in code',
    preheader: 'The code is valid for {{ minutes }} minutes.',
    body: [
      heading('Your sign-in code'),
      paragraph('Enter this code to sign in to {{ product }}. It is valid for {{ minutes }} minutes.'),
      digits('{{ code }}'),
      quiet('If you did not try to sign in, ignore this message. Never share the code with anyone.'),
    ],
    reason: 'You receive this message because someone asked to sign in to {{ product }} with your address.',
  }),
  text: `Your sign-in code for {{ product }}: {{ code }}

It is valid for {{ minutes }} minutes.

If you did not try to sign in, ignore this message. Never share the code with anyone.
`,
  sample: { product: 'Acme', code: '482913', minutes: 10 },
}

export const welcome: Starter = {
  subject: 'Welcome to {{ product }}',
  html: page({
    title: 'Welcome to {{ product }}',
    preheader: 'Your account is ready. Here is how to start.',
    body: [
      heading('Welcome{% if user.name %}, {{ user.name }}{% endif %}'),
      paragraph('Your {{ product }} account is ready. Three steps to start:'),
      `{% for step in steps %}
${paragraph('{{ forloop.index }}. {{ step }}')}
{% endfor %}`,
      button('Open your account', '{{ start_url }}'),
      quiet(
        `Questions? Reply to this message or write to ${link('{{ support_email }}', 'mailto:{{ support_email }}')}.`,
      ),
    ],
    reason: 'You receive this message because you created a {{ product }} account.',
  }),
  text: `Welcome{% if user.name %}, {{ user.name }}{% endif %}

Your {{ product }} account is ready. Three steps to start:
{% for step in steps %}
{{ forloop.index }}. {{ step }}
{%- endfor %}

Open your account: {{ start_url }}

Questions? Reply to this message or write to {{ support_email }}.
`,
  sample: {
    product: 'Acme',
    user: { name: 'Ann' },
    steps: ['Complete your profile.', 'Invite your team.', 'Create your first project.'],
    start_url: 'https://app.acme.example/start',
    support_email: 'support@acme.example',
  },
}

export const invitation: Starter = {
  subject: '{{ inviter.name }} invited you to {{ team }}',
  html: page({
    title: 'Invitation to {{ team }}',
    preheader: 'Accept the invitation within {{ days }} days.',
    body: [
      heading('Join {{ team }}'),
      paragraph('{{ inviter.name }} ({{ inviter.email }}) invited you to work with {{ team }} in {{ product }}.'),
      button('Accept the invitation', '{{ accept_url }}'),
      quiet('The invitation is valid for {{ days }} days. If you do not know the sender, ignore this message.'),
    ],
    reason: 'You receive this message because {{ inviter.name }} entered your address in {{ product }}.',
  }),
  text: `{{ inviter.name }} ({{ inviter.email }}) invited you to work with {{ team }} in {{ product }}.

Accept the invitation: {{ accept_url }}

It is valid for {{ days }} days. If you do not know the sender, ignore this message.
`,
  sample: {
    product: 'Acme',
    team: 'Design team',
    inviter: { name: 'Bob Miller', email: 'bob@acme.example' },
    accept_url: 'https://app.acme.example/invitations/7f3k2',
    days: 7,
  },
}

export const passwordReset: Starter = {
  subject: 'Reset your {{ product }} password',
  html: page({
    title: 'Reset your password',
    preheader: 'The link is valid for {{ minutes }} minutes.',
    body: [
      heading('Reset your password'),
      paragraph('Someone asked for a new password for your {{ product }} account. Choose one with this link:'),
      button('Choose a new password', '{{ reset_url }}'),
      quiet(
        'The link works once and is valid for {{ minutes }} minutes. If you did not ask for it, ignore this message: your password stays as it is.',
      ),
    ],
    reason: 'You receive this message because someone entered your address on the sign-in page of {{ product }}.',
  }),
  text: `Someone asked for a new password for your {{ product }} account.

Choose a new password: {{ reset_url }}

The link works once and is valid for {{ minutes }} minutes. If you did not ask for it, ignore this message: your password stays as it is.
`,
  sample: { product: 'Acme', reset_url: 'https://app.acme.example/reset/9d41c', minutes: 30 },
}
