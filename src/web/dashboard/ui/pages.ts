import type { FunctionComponent } from 'preact'

/** A page of the dashboard: a row of PAGES and a file in pages/. The file's default export gets the path parameters.
 *
 *  Pages use the components and functions of kit/; each file there documents its own:
 *    api.ts      get, post, patch, remove, getText: calls to the public API, which throw ApiError
 *    load.ts     useLoad, usePages: load and refresh data for the selected organization and mode
 *    router.ts   href, go, setQuery, place · unsaved.ts  useUnsaved
 *    rights.ts   may, roleNeeded: what the user's role allows
 *    state.ts    session, organization, mode, theme (signals)
 *    table.tsx   Table, Pager · form.tsx  Form, Field, Check · dialog.tsx  Dialog, confirm · toast.tsx  toast, attempt
 *    icon.tsx  Icon · menu.tsx  Menu, MenuItem (⋯ of a row) · skeleton.tsx  Skeleton · palette.tsx  ⌘K
 *    pieces.tsx  Head, Facts, CopyButton, Tabs, Segments, Filters, Choice, Empty, ErrorNotice, Timeline
 *    chart.tsx   Chart · mail-frame.tsx  MailFrame (untrusted HTML) · live.ts  useEvents
 *    status.tsx  Chip · format.ts  when, ago, duration, number, percent, bytes · keys.tsx  keyboard shortcuts
 *  Layout classes are in style.css: card, stack, row, apart, columns, notice, facts, muted, small, mono, break. The
 *  content security policy forbids inline styles in HTML (Preact's `style={{…}}` works), eval and requests to other
 *  hosts. */
export interface PageEntry {
  /** `/messages/:message_id` */
  path: string
  name: string
  /** Group in the navigation; '' is the first one, without a heading. Undefined: not in the navigation. */
  group?: '' | 'Sending' | 'Receiving' | 'Server'
  /** Name of its icon in the navigation (kit/icon.tsx). */
  icon?: string
  /** Whether it shows live or test data, so that the switch appears. */
  hasMode?: true
  /** The operation that the page needs: users who may not call it do not see the page (kit/rights.ts). */
  needs: string
  /** Pressing `g` and this key opens the page. */
  key?: string
  /** Path of the parent page: Escape opens it, and the navigation marks it. */
  under?: string
  // biome-ignore lint/suspicious/noExplicitAny: each page takes the parameters of its own path
  load: () => Promise<{ default: FunctionComponent<any> }>
}

/** All pages, in the order of the navigation. */
export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    name: 'Overview',
    needs: 'stats_read',
    group: '',
    key: 'o',
    icon: 'house',
    hasMode: true,
    load: () => import('./pages/overview.tsx'),
  },
  {
    path: '/messages',
    name: 'Messages',
    needs: 'messages_list',
    group: '',
    key: 'm',
    icon: 'send',
    hasMode: true,
    load: () => import('./pages/messages.tsx'),
  },
  {
    path: '/statistics',
    name: 'Statistics',
    needs: 'stats_read',
    group: '',
    key: 'v',
    icon: 'chart-column',
    hasMode: true,
    load: () => import('./pages/statistics.tsx'),
  },
  {
    path: '/messages/:message_id',
    name: 'Message',
    needs: 'messages_get',
    under: '/messages',
    load: () => import('./pages/message.tsx'),
  },
  {
    path: '/sandbox',
    name: 'Sandbox inbox',
    needs: 'messages_list',
    group: '',
    key: 'b',
    icon: 'flask-conical',
    load: () => import('./pages/sandbox.tsx'),
  },
  {
    path: '/domains',
    name: 'Domains',
    needs: 'domains_list',
    group: 'Sending',
    key: 'd',
    icon: 'globe',
    load: () => import('./pages/domains.tsx'),
  },
  {
    path: '/domains/:domain_id',
    name: 'Domain',
    needs: 'domains_get',
    under: '/domains',
    load: () => import('./pages/domain.tsx'),
  },
  {
    path: '/domains/:domain_id/senders',
    name: 'DMARC reports',
    needs: 'domains_dmarc',
    under: '/domains',
    load: () => import('./pages/senders.tsx'),
  },
  {
    path: '/api-keys',
    name: 'API keys',
    needs: 'api_keys_list',
    group: 'Sending',
    key: 'k',
    icon: 'key-round',
    load: () => import('./pages/api-keys.tsx'),
  },
  {
    path: '/webhooks',
    name: 'Webhooks',
    needs: 'webhooks_list',
    group: 'Sending',
    key: 'w',
    icon: 'webhook',
    load: () => import('./pages/webhooks.tsx'),
  },
  {
    path: '/webhooks/:webhook_id',
    name: 'Webhook',
    needs: 'webhooks_get',
    under: '/webhooks',
    load: () => import('./pages/webhook.tsx'),
  },
  {
    path: '/templates',
    name: 'Templates',
    needs: 'templates_list',
    group: 'Sending',
    key: 't',
    icon: 'file-text',
    load: () => import('./pages/templates.tsx'),
  },
  {
    path: '/templates/:template_id',
    name: 'Template',
    needs: 'templates_get',
    under: '/templates',
    load: () => import('./pages/template.tsx'),
  },
  {
    path: '/suppressions',
    name: 'Suppressions',
    needs: 'suppressions_list',
    group: 'Sending',
    key: 's',
    icon: 'ban',
    load: () => import('./pages/suppressions.tsx'),
  },
  {
    path: '/erasures',
    name: 'Erasures',
    needs: 'recipients_erasures_list',
    under: '/suppressions',
    load: () => import('./pages/erasures.tsx'),
  },
  {
    path: '/inbound',
    name: 'Inbound',
    needs: 'inbound_messages_list',
    group: 'Receiving',
    key: 'i',
    icon: 'inbox',
    load: () => import('./pages/inbound.tsx'),
  },
  {
    path: '/inbound/:inbound_message_id',
    name: 'Inbound message',
    needs: 'inbound_messages_get',
    under: '/inbound',
    load: () => import('./pages/inbound-message.tsx'),
  },
  {
    path: '/health',
    name: 'Health',
    needs: 'health_checks_list',
    group: 'Server',
    key: 'h',
    icon: 'activity',
    load: () => import('./pages/health.tsx'),
  },
  {
    path: '/sending-addresses',
    name: 'Sending addresses',
    needs: 'sending_addresses_list',
    group: 'Server',
    key: 'f',
    icon: 'network',
    load: () => import('./pages/sending-addresses.tsx'),
  },
  {
    path: '/organizations',
    name: 'Organizations',
    needs: 'organizations_list',
    group: 'Server',
    key: 'z',
    icon: 'building',
    load: () => import('./pages/organizations.tsx'),
  },
  {
    path: '/users',
    name: 'Users',
    needs: 'users_list',
    group: 'Server',
    key: 'u',
    icon: 'users',
    load: () => import('./pages/users.tsx'),
  },
  {
    path: '/settings',
    name: 'Settings',
    needs: 'usage_get',
    group: 'Server',
    key: ',',
    icon: 'settings',
    load: () => import('./pages/settings.tsx'),
  },
  {
    path: '/account',
    name: 'Account',
    needs: 'usage_get',
    key: 'a',
    load: () => import('./pages/account.tsx'),
  },
]
