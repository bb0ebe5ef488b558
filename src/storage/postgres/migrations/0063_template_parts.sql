-- Layouts, partials and other languages of templates. `extra` is a JSON object, null if it would be empty; `uses` is a
-- JSON array with the aliases of the layout and the partials of the current version.
alter table templates add column kind text not null default 'message';
alter table templates add column uses text not null default '[]';
alter table template_versions add column extra text;
