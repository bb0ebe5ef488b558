declare global {
  /** The variables of each template, by alias. The file that `postrider-templates types` writes fills it. Without that
   *  file, a message may have any template and any variables. */
  interface PostriderTemplates {}
}

/** Body of a message, or of a batch → the same, in which a template and its variables must fit together. */
export type TypedTemplates<Body> = [keyof PostriderTemplates] extends [never]
  ? Body
  : Body extends { messages: (infer Message)[] }
    ? Omit<Body, 'messages'> & { messages: TypedMessage<Message>[] }
    : TypedMessage<Body>

type TypedMessage<Body> = 'template_id' extends keyof Body
  ? Omit<Body, 'template_id' | 'variables'> & (Used | { template_id?: null | undefined; variables?: null | undefined })
  : Omit<Body, 'templateId' | 'variables'> &
      (UsedInCamel | { templateId?: null | undefined; variables?: null | undefined })

type Used = {
  [Id in keyof PostriderTemplates]: NeedsNone<PostriderTemplates[Id]> extends true
    ? { template_id: Id; variables?: PostriderTemplates[Id] | null | undefined }
    : { template_id: Id; variables: PostriderTemplates[Id] }
}[keyof PostriderTemplates]

type UsedInCamel = {
  [Id in keyof PostriderTemplates]: NeedsNone<PostriderTemplates[Id]> extends true
    ? { templateId: Id; variables?: PostriderTemplates[Id] | null | undefined }
    : { templateId: Id; variables: PostriderTemplates[Id] }
}[keyof PostriderTemplates]

// biome-ignore lint/complexity/noBannedTypes: the type of an object without fields, which says that none is required
type NeedsNone<Variables> = {} extends Variables ? true : false
