import type { PolicyReport } from '../mail/policy-report.ts'

/** A mail to a report address as a reader found it. */
export interface ReportRead {
  /** The registrable domain of its author, if SPF or DKIM of that domain passed. */
  reporter: string | null
  /** DNS gave no answer; a later attempt may find a reporter. */
  isUndecided: boolean
  /** `none` without a reporter. */
  content: PolicyReport
}
