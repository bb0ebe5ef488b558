/** An analysis without input; a test overrides what it is about. */
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
