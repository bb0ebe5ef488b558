import type { PolicyReport } from '../../mail/policy-report.ts'

/** A mail to a report address as a reader found it. */
export interface ReportRead {
  /** The registrable domain of the report's author, or that of a large receiver's reports (model/reporter.ts), if SPF or
   *  DKIM of the author's domain passed. */
  reporter: string | null
  /** DNS gave no answer; a later attempt may find a reporter. */
  isUndecided: boolean
  /** `none` without a reporter. */
  content: PolicyReport
}
