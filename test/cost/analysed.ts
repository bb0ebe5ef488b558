/** An analysis of nothing: what a test does not say about a message. */
export const ANALYSED = {
  from: { name: 'A', local: 'a', domain: 'a.example' },
  replyTo: [],
  subject: 'a',
  html: null,
  text: null,
  headers: [],
  attachments: [],
  domain: { status: 'verified' as const, findings: [] },
  hasUnsubscribe: false,
  sizeBytes: 1_000,
}
