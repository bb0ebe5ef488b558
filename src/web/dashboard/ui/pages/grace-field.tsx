import { Field } from '../kit/form.tsx'

/** Select for the time until the old key or secret expires: minutes in `grace_period_minutes`, by default one hour. */
export function GraceField({ label }: { label: string }) {
  return (
    <Field name="grace_period_minutes" label={label}>
      {(control) => (
        <select {...control}>
          <option value="0">Immediately</option>
          <option value="60" selected>
            After 1 hour
          </option>
          <option value="1440">After 1 day</option>
          <option value="10080">After 1 week</option>
        </select>
      )}
    </Field>
  )
}
