// 3 MB of XML, parsed, searched, changed and written, three times.
#include <cstdio>
#include <sstream>
#include <string>
#include "pugixml.hpp"

int main() {
  std::string document = "<all>";
  for (int i = 0; document.size() < 3 << 20; i++) {
    std::string n = std::to_string(i);
    document += "<item id='" + n + "' kind=\"k" + std::to_string(i % 7) + "\">text " + n + "<sub a='1'/></item>\n";
  }
  document += "</all>";
  long sum = 0;
  for (int round = 0; round < 3; round++) {
    pugi::xml_document parsed;
    if (!parsed.load_string(document.c_str())) return 1;
    for (pugi::xml_node item : parsed.child("all").children("item")) {
      sum += item.attribute("id").as_int();
      item.child("sub").attribute("a").set_value(item.attribute("kind").value());
      if (sum % 5 == 0) item.append_child("new").append_attribute("n") = int(sum % 1000);
    }
    for (pugi::xpath_node found : parsed.select_nodes("/all/item[@kind='k3']"))
      sum += found.node().attribute("id").as_int();
    std::ostringstream written;
    parsed.save(written);
    sum += long(written.str().size());
  }
  std::printf("%ld\n", sum);
  return 0;
}
