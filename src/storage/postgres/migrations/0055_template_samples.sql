-- Values of a template's variables for previews and checks, a JSON object.
alter table templates add column sample text not null default '{}';
