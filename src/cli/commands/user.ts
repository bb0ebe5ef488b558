import { type Command, Option } from 'commander'
import { ROLES } from '../../model/user.ts'
import { withRecords } from '../options.ts'

const ORG = 'organization (id or name); needed if there are several'

/** `postrider user …`. */
export function addUsers(program: Command): void {
  const user = program.command('user').description('manage the people who sign in to the dashboard')
  withRecords(user.command('add <email>'))
    .description('create a user and print a link that sets the password')
    .option('--name <name>', 'name; by default the local part of the address')
    .option('--org <org>', ORG)
    .addOption(new Option('--role <role>', 'role in the organization').choices(ROLES))
    .option('--operator', 'operator of the whole server')
    .action(async (email, options) => (await import('../user.ts')).addUser(email, options))
  withRecords(user.command('list'))
    .description('list users with their roles')
    .option('--org <org>', 'only users of this organization (id or name)')
    .action(async (options) => (await import('../user.ts')).listUsers(options))
  withRecords(user.command('role <user> <role>'))
    .description(`set the role of a user (email or id) in an organization: ${ROLES.join(', ')}, or none`)
    .option('--org <org>', ORG)
    .action(async (name, role, options) => (await import('../user.ts')).setRole(name, role, options))
  withRecords(user.command('reset <user>'))
    .description('print a link that sets the password of a user (email or id)')
    .action(async (name, options) => (await import('../user.ts')).resetPassword(name, options))
  withRecords(user.command('remove <user>'))
    .description('delete a user (email or id), end all sessions of the user and revoke the keys that the user made')
    .option('--keep-keys', 'the keys go on and belong to their organization')
    .action(async (name, options) => (await import('../user.ts')).removeUser(name, options))
}
