import { rangesOf } from '../../mail/field-ranges.ts'
import type { Verdicts } from '../../model/inbound-message.ts'
import type { Authentication } from './authenticate.ts'

/** Verdicts for a mail that was not authenticated. RFC 8601 §2.7 */
export function undecidedResults(raw: Uint8Array, comment: string): Authentication {
  const hasArc = rangesOf(raw, 'arc-seal').length > 0
  const verdicts: Verdicts = { spf: 'temperror', dkim: 'temperror', dmarc: 'temperror', arc: hasArc ? 'fail' : 'none' }
  const methods = ['spf', 'dkim', 'dmarc', 'arc'] as const
  return {
    verdicts,
    dmarcPolicy: 'none',
    dmarcReason: null,
    results: methods.map((method) => ({ method, result: verdicts[method], comment, properties: [] })),
  }
}
