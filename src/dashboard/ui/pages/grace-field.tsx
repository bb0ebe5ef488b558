import { Field } from '../kit/form.tsx'

/** How long the old key, or the old secret, goes on beside the new one: minutes under `grace_period_minutes`. */
export function GraceField({ label }: { label: string }) {
  return (
    <Field name="grace_period_minutes" label={label}>
      {(control) => (
        <select {...control} defaultValue="60">
          <option value="0">at once</option>
          <option value="60">in an hour</option>
          <option value="1440">in a day</option>
          <option value="10080">in a week</option>
        </select>
      )}
    </Field>
  )
}
